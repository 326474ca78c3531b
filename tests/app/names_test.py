"""Names of commit 4844180 that the built command still knows: subcommands, options, recipes, recipe keys and their values."""
import json
import re

import command

NAMES = command.ROOT / "tests/data/names"
RECIPES = NAMES / "recipes"
# Options that `--help` no longer lists, because another name replaced them: (command, option).
HIDDEN = set()


class Names(command.CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.stored = json.loads((NAMES / "command.json").read_text(encoding="utf-8"))

    def test_help_lists_the_options(self):
        for name, options in self.stored["commands"].items():
            with self.subTest(name):
                text = self.succeed(*name.split(), "--help").stdout
                listed = {option for line in re.findall(r"^  (-[\w,-]+)", text, re.MULTILINE) for option in line.split(",")}
                self.assertEqual([option for option in options if option not in listed and (name, option) not in HIDDEN], [])

    def test_recipes_are_found_by_name(self):
        listed = self.succeed("recipes", "--wide").stdout.split()
        for name in self.stored["recipes"]:
            stem = name.split("/")[-1]
            if stem not in listed:
                with self.subTest(stem):  # an old name
                    self.succeed("train", stem, "--print")

    def test_earlier_recipes_are_read(self):
        """Every key of the earlier recipes, and every name that a key takes there, is in one of these."""
        recipes = [path for path in sorted(RECIPES.rglob("*.toml")) if "[sweep" not in path.read_text(encoding="utf-8")]
        self.assertGreater(len(recipes), 60)
        for path in recipes:
            with self.subTest(path.stem):
                self.succeed("train", str(path), "--print")

    def test_earlier_sweeps_are_read(self):
        sweeps = [path for path in sorted(RECIPES.rglob("*.toml")) if "[sweep" in path.read_text(encoding="utf-8")]
        self.assertGreater(len(sweeps), 0)
        for path in sweeps:
            with self.subTest(path.stem):
                self.succeed("sweep", str(path), "--print")


if __name__ == "__main__":
    command.main()
