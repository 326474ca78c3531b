"""tools/papers-page: the page agrees with the recipes, and each way in which it can disagree is a fault that is named."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/papers-page"
RECIPES = {
    "vision/vit_a.toml": '# A.\n[paper]\narxiv = "2312.12742"\nrow = ["Table 1, A", "Table 2, A"]\nvalue = ["1 %", "2 %"]\n'
                         'runs = 5\ndiffers = ["Why.", "So."]\n',
    "vision/vit_b.toml": '# B.\n[paper]\narxiv = "2312.12742"\nrow = "Table 1, B"\nvalue = "3 %"\ndiffers = ["So."]\n',
    "vision/vit_devices.toml": '# Their base.\n[train]\nbatch_size = 64\naccumulate = 16\nstate = "separate"\n',
    "vision/vit_small_b.toml": "# Small, of Cached\n# Transformers.\n",
    "vision/vit_plain.toml": "# Of no paper.\n",
    "sweeps/un_window.toml": "# A sweep of 2208.01313.\n",
}
PAGE = """# Page
`vit_{small_b,plain}`, `sweeps/un_window`, `un_window_size` and `cachet train vit_a --dry-run` are here.

<!-- rows: 2312.12742 Table 1
A
B
C | 4 % | `cachet bench`
-->
<!-- /rows -->

<!-- rows: 2312.12742 Table 2
A
-->
<!-- /rows -->

<!-- differences: 2312.12742
so: So.
why not: Why.
-->
<!-- /differences -->
"""


class PapersPage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in RECIPES.items():
            self.write(f"recipes/{name}", text)
        self.write("docs/papers.md", PAGE)
        (self.root / "tools").mkdir()
        shutil.copy(SCRIPT, self.root / "tools")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def page(self):
        return (self.root / "docs/papers.md").read_text(encoding="utf-8")

    def run_tool(self, *words, code=0):
        done = subprocess.run([sys.executable, self.root / "tools/papers-page", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_the_page_of_this_clone(self):
        done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_tables_are_those_of_the_recipes(self):
        self.assertIn("the tables differ from the recipes", self.run_tool("--check", code=1))
        self.assertEqual(self.page(), PAGE, "--check writes nothing")
        self.run_tool()
        self.assertIn("| A | 1 % | `vit_a --seeds 5` | so; why not |\n| B | 3 % | `vit_b` | so |\n| C | 4 % | `cachet bench` | |\n\n"
                      "<!-- /rows -->", self.page())
        self.assertIn("| word | difference |\n| --- | --- |\n| so | So. |\n| why not | Why. |\n\n<!-- /differences -->", self.page())
        self.assertIn("| A | 2 % | `vit_a --seeds 5` | so; why not |\n", self.page())
        self.assertEqual(self.run_tool("--check"), "")
        written = self.page()
        self.run_tool()
        self.assertEqual(self.page(), written)

    def test_words_of_all_rows_stand_once_above_the_table(self):
        self.write("recipes/vision/vit_d.toml", RECIPES["vision/vit_b.toml"].replace("Table 1, B", "Table 1, D"))
        page = PAGE.replace("\nB\n", "\nB\nD\n").replace("<!-- differences", "### What differs: all\n\nWords:\n\n<!-- differences")
        self.write("docs/papers.md", page)
        self.run_tool()
        self.assertIn("\nAll recipes of this table differ from the paper; they have: so.\n\n| row | the paper | recipe or command | [differs](#what-differs-all) |\n", self.page())
        self.assertIn("| A | 1 % | `vit_a --seeds 5` | why not |\n| B | 3 % | `vit_b` | |\n", self.page())

    def test_devices_are_those_of_the_recipes(self):
        self.write("docs/papers.md", PAGE + "\n<!-- rows: 2208.01313 Table 3\nT\n-->\n<!-- /rows -->\n")
        self.write("recipes/text/text_tokens.toml",
                   '# Tokens.\n[paper]\narxiv = "2208.01313"\nrow = "Table 3, T"\nvalue = "5 %"\n'
                   '[data]\nmax_tokens = 4096\n[train]\naccumulate = 8\nstate = "first"\n')
        for name, more in (("a", ""), ("b", '\n[train]\nbatch_size = 128\naccumulate = 8\n')):
            self.write(f"recipes/vision/vit_{name}.toml", 'base = "vit_devices.toml"\n' + RECIPES[f"vision/vit_{name}.toml"] + more)
        self.run_tool()
        self.assertIn("| row | the paper | recipe or command | differs | parts, `train.state` |\n| --- | --- | --- | --- | --- |\n"
                      "| A | 1 % | `vit_a --seeds 5` | so; why not | 16 × 64 images, `separate` |\n"
                      "| B | 3 % | `vit_b` | so | 8 × 128 images, `separate` |\n| C | 4 % | `cachet bench` | | |\n\n", self.page())
        self.assertIn('\nParts of a training step: 16 × 64 images, `train.state = "separate"`.\n\n| row |', self.page(), "Table 2")
        self.assertIn('\nParts of a training step: 8 × 4,096 tokens, `train.state = "first"`.\n\n| row |', self.page(), "Table 3")
        self.write("recipes/vision/vit_devices.toml", RECIPES["vision/vit_devices.toml"].replace("16", "32"))
        self.assertIn("the tables differ from the recipes", self.run_tool("--check", code=1))

    def test_a_changed_value_is_found(self):
        self.run_tool()
        self.write("recipes/vision/vit_b.toml", RECIPES["vision/vit_b.toml"].replace("3 %", "5 %"))
        self.assertIn("the tables differ from the recipes", self.run_tool("--check", code=1))

    def test_a_difference_has_a_word(self):
        self.write("docs/papers.md", PAGE.replace("so: So.\n", "so: Thus.\n"))
        said = self.run_tool("--check", code=1)
        self.assertIn("2312.12742, Table 1, B: no word for the difference 'So.'", said)
        self.assertIn("the word for 'Thus.' is used in no table of 2312.12742", said)

    def test_rows_that_are_in_no_list_and_rows_without_a_recipe(self):
        self.write("docs/papers.md", PAGE.replace("\nB\n", "\nD\n"))
        said = self.run_tool("--check", code=1)
        self.assertIn("recipe vit_b: 2312.12742, Table 1, B: no list of the page has this row", said)
        self.assertIn("2312.12742, Table 1, D: no recipe trains this row", said)

    def test_a_recipe_that_cites_a_paper_is_on_the_page(self):
        self.write("docs/papers.md", PAGE.replace("small_b,", "").replace("sweeps/un_window", "sweeps"))
        said = self.run_tool("--check", code=1)
        self.assertIn("recipe vit_small_b cites a paper and is not on the page", said)
        self.assertIn("recipe un_window cites a paper and is not on the page", said)
        self.assertNotIn("vit_plain", said)

    def test_a_recipe_does_not_take_the_row_of_its_base(self):
        self.write("recipes/vision/vit_wide.toml", 'base = "vit_b.toml"\n[model]\nembed_dim = 96\n')
        self.assertIn("recipe vit_wide has the row of its base", self.run_tool("--check", code=1))
        self.write("recipes/vision/vit_wide.toml", 'base = "vit_b.toml"\n[paper]\n[model]\nembed_dim = 96\n')
        self.run_tool()
        self.run_tool("--check")

    def test_a_recipe_on_the_page_exists(self):
        self.write("docs/papers.md", PAGE.replace("vit_a --dry", "vit_c --dry"))
        self.assertIn("the page names vit_c, which is no recipe", self.run_tool("--check", code=1))


if __name__ == "__main__":
    unittest.main()
