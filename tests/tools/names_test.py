"""Names that programs and people outside the repository use: those of commit 4844180 are still there.

Keys of JSON, CSV, metrics and recipes, parameters of models, names of files in runs and exports are strings of the sources that are
one word. This test compares such strings with the stored list. tests/app/names_test.py asks the built command for the same names.
"""

import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ROOT / "tests/data/names"
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

from word_check import cpp

# Names that a release removed, with the line of the change log or the reason. Do not add a name here because a sentence changed.
GONE = {
    "not_finite": "`import` and `train.init` refuse weights that are NaN or infinite; the report of `import --json` no longer has it",
    "peak_memory_bytes": "`bench` prints the bytes of activations, of weights and of both",
}
# Recipes whose old names the command still finds; tests/app/names_test.py tries them.
RENAMED = {"detection/coco_faster_rcnn_swin_tiny_un_1x_": "detection/coco_mask_rcnn_swin_tiny_un_1x_"}
OPTION = re.compile(r"--?[a-zA-Z][\w-]*")


def strings(root):
    """The strings of app/ and cachet/, and for each option-like string its options."""
    found = set()
    for folder in ("app", "cachet"):
        for path in (root / folder).rglob("*"):
            if path.suffix in (".cpp", ".h"):
                for kind, pieces in cpp.comments_and_strings(path.read_text(encoding="utf-8")):
                    if kind == "string":
                        text = "".join(piece for _, piece in pieces)
                        found.add(text)
                        if text.startswith("-"):
                            found.update(OPTION.findall(text))
    return found


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = strings(ROOT)
        cls.stored = set((NAMES / "sources.txt").read_text(encoding="utf-8").split())
        cls.command = json.loads((NAMES / "command.json").read_text(encoding="utf-8"))

    def test_strings_of_the_sources(self):
        gone = sorted(self.stored - self.found - set(GONE))
        self.assertEqual(gone, [], "These names of commit 4844180 are no longer strings of app/ or cachet/. If users see one (a key of "
                         "JSON, CSV, metrics or recipes, a parameter, a file of a run or export), keep it as an alias. If none can "
                         "see it, remove it from tests/data/names/sources.txt.")

    def test_names_that_are_gone_are_not_back(self):
        self.assertEqual(sorted(set(GONE) & self.found), [])
        self.assertEqual(sorted(set(GONE) - self.stored), [])

    def test_commands_and_options(self):
        gone = [f"cachet {name} {option}" for name, options in self.command["commands"].items() for option in options
                if option not in self.found and option not in ("--help", "--version", "-h")]
        self.assertEqual(gone, [])
        self.assertEqual([name for name in self.command["commands"] if name and name.split()[-1] not in self.found], [])

    def test_recipes(self):
        def exists(name):
            return (ROOT / "recipes" / f"{name}.toml").exists()

        gone = [name for name in self.command["recipes"] if not exists(name) and not any(
            name.startswith(old) and exists(new + name.removeprefix(old)) for old, new in RENAMED.items())]
        self.assertEqual(gone, [])

    def test_the_lists_have_what_they_should(self):
        self.assertEqual({"share", "lanes", "kept", "metrics.jsonl", "export.json", "grc", "box_ap"} - self.stored, set())
        self.assertGreater(len(self.stored), 1500)
        self.assertGreater(len(self.command["recipes"]), 200)
        self.assertIn("--resume", self.command["commands"]["train"])


if __name__ == "__main__":
    unittest.main()
