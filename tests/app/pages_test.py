"""The commands of README.md and of the pages of docs, in an empty folder far from the clone: each subcommand and option exists, each recipe and
model that is named comes with the command, and each file that is named is made on its page."""
import functools
import pathlib
import re
import shlex

import command

PAGES = [command.ROOT / "README.md", *sorted((command.ROOT / "docs").glob("**/*.md"))]
ENDS = {"&&", "||", "|", ">", ">>", "<", ";", "&", "2>"}
# Commands that take a recipe, and the options with which they only look at it.
LOOKS = {"train": ["--print"], "sweep": ["--print"], "recipes": []}
# A file or folder of the reader's: a page may speak of it without a command that makes it.
READERS_OWN = re.compile(r"(my-|RUN|RECIPE|FOLDER|MODEL|NAME|PROGRAM|FILE|SWEEP|\$|/)")


def commands_of(page):
    """The commands `cachet …` in blocks of shell of a page, as words."""
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        block = re.sub(r"<<'?(\w+)'?\n.*?^\1$", "", block.replace("\\\n", " "), flags=re.MULTILINE | re.DOTALL)
        for line in block.splitlines():
            words = []
            for word in [*shlex.split(line, comments=True), ";"]:
                if word not in ENDS and not word.endswith(";"):
                    words.append(word)
                    continue
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):  # a variable for this command
                    words.pop(0)
                if words[:1] == ["cachet"] and "…" not in line and "..." not in line:
                    yield words[1:]
                words = []


def all_commands():
    return [(page.relative_to(command.ROOT), words) for page in PAGES for words in commands_of(page)]


@functools.cache
def options(*names):
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", command.run(*names, "--help").stdout.partition("\nExamples:")[0]))


class Commands(command.FolderTest):
    def test_there_are_many(self):
        self.assertGreater(len(all_commands()), 150)
        self.assertIn(["train", "demo_plain", "--set", "train.limit=200 steps", "--run", "my-run"],
                      [words for page, words in all_commands() if str(page) == "README.md"])

    def test_subcommands_and_options_exist(self):
        known = set(re.findall(r"^  ([a-z]+)  +\S", command.run("--help").stdout, re.MULTILINE))
        for page, words in all_commands():
            with self.subTest(page=str(page), command=shlex.join(words)):
                if words[0].startswith("-"):
                    self.assertIn(words[0], options())
                    continue
                self.assertIn(words[0], known)
                names = words[:2] if words[0] == "data" else words[:1]
                for word in words[len(names):]:
                    if re.match(r"--?[A-Za-z]", word):
                        self.assertIn(word.partition("=")[0], options(*names))

    def test_recipes_are_read_in_an_empty_folder(self):
        recipes = {each["name"].split("/")[-1] for each in self.json_of("recipes", "--json", cwd=self.folder)["recipes"]}
        looked = set()
        for page, words in all_commands():
            look = LOOKS.get(words[0])
            if look is None or len(words) < 2 or words[1].startswith("-") or "--resume" in words or "--data" in words:
                continue
            name, text = words[1], (command.ROOT / page).read_text(encoding="utf-8")
            with self.subTest(page=str(page), command=shlex.join(words)):
                self.assertFalse(name.startswith("recipes/"), "the reader has no folder of recipes: name the recipe alone")
                if name.endswith(".toml"):
                    made = f"**{name}**", f"cat >{name}", f" {name}\n"  # shown, written, or the last word of a command
                    self.assertTrue(any(each in text for each in made), "the page makes this file")
                elif words[0] == "recipes":
                    if tuple(words) not in looked:
                        self.cachet(*words)
                    looked.add(tuple(words))
                elif name.split("/")[-1] in recipes:
                    words = [word for word in words if word not in ("--dry-run", "--print")]
                    if tuple(words) not in looked:
                        self.cachet(*words, *look)
                    looked.add(tuple(words))
                else:
                    self.assertRegex(name, READERS_OWN)
        self.assertGreater(len(looked), 15)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.suffix != ".toml"], [], "to look leaves nothing")


if __name__ == "__main__":
    command.main()
