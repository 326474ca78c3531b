"""The row of a paper that a recipe trains: what a dry run, a run's page, a list and a comparison make of it."""
import command
from runs import RECIPE, RunTest

PAPER = """
[paper]
arxiv = "2312.12742"
row = ["Table 1, ViT-S", "Table 2, ViT-S, no cache"]
value = ["79.9 % top-1", "79.9 % top-1"]
runs = 5
differs = ["The images have 8 pixels a side."]
"""
FIRST = "Cached Transformers (arXiv 2312.12742), Table 1, ViT-S: 79.9 % top-1"
CHANGED = "This experiment differs from the paper's: "


class Paper(RunTest):
    def setUp(self):
        super().setUp()
        (self.folder / "row.toml").write_text("# A row of a table of a paper.\n" + RECIPE + PAPER)

    def dry_run(self, recipe, *words):
        return self.cachet("train", recipe, "--dry-run", *words).stdout

    def test_a_dry_run_shows_the_rows_and_what_differs(self):
        text = self.dry_run("row.toml")
        self.assertIn("paper         " + FIRST + "\n", text)
        self.assertIn(" " * 14 + "Cached Transformers (arXiv 2312.12742), Table 2, ViT-S, no cache: 79.9 % top-1\n", text)
        self.assertIn(" " * 14 + "The mean of 5 runs: --seeds 5\n", text)
        self.assertIn(" " * 14 + "Differs: The images have 8 pixels a side.\n", text)
        self.assertNotIn(CHANGED, text)
        self.assertNotIn("\npaper ", self.dry_run("tiny.toml"))

    def test_a_changed_key_makes_another_experiment(self):
        self.assertIn(CHANGED + "train.epochs, model.depth are changed\n",
                      self.dry_run("row.toml", "--set", "train.epochs=4", "--set", "model.depth=2")
                      .replace("model.depth, train.epochs", "train.epochs, model.depth"))
        same = self.dry_run("row.toml", "--set", "train.epochs=3", "--set", "train.seed=5", "--set", "train.threads=1")
        self.assertNotIn(CHANGED, same, "the same value, and what makes no other experiment")
        (self.folder / "mine.toml").write_text('base = "row.toml"\n[train]\nbatch_size = 4\n')
        text = self.dry_run("mine.toml")
        self.assertIn(FIRST, text)
        self.assertIn(CHANGED + "train.batch_size is changed\n", text)
        (self.folder / "other.toml").write_text('base = "row.toml"\n[train]\nbatch_size = 4\n[paper]\n'
                                                'arxiv = "2208.01313"\nrow = "Table 2, ViT-S"\nvalue = "80 %"\n')
        text = self.dry_run("other.toml")
        self.assertIn("Unified Normalization (arXiv 2208.01313), Table 2, ViT-S: 80 %\n", text)
        for part in (FIRST, CHANGED, "Differs"):
            self.assertNotIn(part, text, "a row of its own takes the place of the base's")

    def test_a_run_keeps_its_row_and_a_resume_knows_it(self):
        short = ("--progress", "none", "--set", "train.limit=4 steps")
        self.cachet("train", "row.toml", "--run", "run", *short, "--set", "train.batch_size=4")
        page = (self.folder / "run/report.html").read_text()
        for part in ("the paper", "Table 2, ViT-S, no cache",
                     "The images have 8 pixels a side.", "--seeds 5",
                     "train.batch_size, train.limit are changed"):
            self.assertIn(part, page.replace("train.limit, train.batch_size", "train.batch_size, train.limit"))
        self.cachet("train", "run", "--resume", "--progress", "none", "--set", "train.limit=8 steps")
        kept = (self.folder / "run/resolved.toml").read_text()
        self.assertIn('row = ["Table 1, ViT-S", "Table 2, ViT-S, no cache"]', kept)
        self.assertRegex(kept, r'changed = \["[^\n]*train.batch_size')
        self.assertRegex(kept, r'changed = \["[^\n]*train.limit')

    def test_the_same_parts_in_another_spread_are_the_papers_experiment(self):
        (self.folder / "row.toml").write_text("# A row.\n" + RECIPE.replace(
            "[train]", '[train]\nstate = "separate"\naccumulate = 2').replace("batch_size = 8", "batch_size = 20") + PAPER)
        parts = "the number of parts of a step"
        spread = ("--processes", "2", "--set", "train.accumulate=1", "--set", "train.batch_size=40")
        long = ("--processes", "2")
        text = self.dry_run("row.toml", *spread)
        self.assertNotIn(CHANGED, text)
        self.assertNotIn("the recipe has", text)
        text = self.dry_run("row.toml", *long)
        self.assertIn(CHANGED + parts + " is changed\n", text)
        self.assertRegex(text, r"\nnote +the run has 4 states of 10 images, but the recipe has 2 of 20\n")
        self.assertRegex(text, r"\nprocesses +2; the times")
        limit = ("--progress", "none", "--set", "train.limit=2 steps", "--set", "train.threads=1")
        for name, words, changed in (("spread", spread, "train.limit is"), ("long", long, f"train.limit, {parts} are")):
            self.cachet("train", "row.toml", "--run", name, *limit, *words)
            self.assertIn(CHANGED.replace("'", "&#39;") + changed, (self.folder / name / "report.html").read_text())
        more = ("--resume", "--progress", "none", "--set", "train.limit=3 steps", "--set", "train.threads=1")
        # The parts of a run stay as many, however a resume spreads them.
        done = self.cachet("train", "spread", *more, "--set", "train.accumulate=2", "--set", "train.batch_size=20")
        self.assertNotIn("the recipe has", done.stderr)
        self.assertRegex((self.folder / "spread/resolved.toml").read_text(), r'changed = \["train.limit"\]')
        self.cachet("train", "long", *more, "--set", "train.accumulate=4", "--set", "train.batch_size=10")
        self.assertRegex((self.folder / "long/resolved.toml").read_text(), rf'changed = \["train.limit", "{parts}"\]')

    def test_a_row_does_not_make_another_recipe(self):
        limit = ("--progress", "none", "--set", "train.limit=4 steps")
        self.cachet("train", "row.toml", "--run", "with", *limit)
        self.cachet("train", "tiny.toml", "--run", "without", *limit)
        self.assertNotIn("paper.", self.cachet("compare", "with", "without", "--json").stdout)
        self.cachet("train", "tiny.toml", "--run", "with", "--resume", "--progress", "none", "--set",
                    "train.limit=8 steps")

    def test_lists_have_the_rows_and_a_copy_has_none(self):
        listed = {recipe["name"]: recipe for recipe in self.json_of("recipes", "--json")["recipes"]}
        self.assertEqual(listed["imagenet/imagenet_pvt_medium"]["paper"][0],
                         {"arxiv": "2312.12742", "row": "Table 1, PVT-Medium", "value": "81.2 % top-1, 95.7 % top-5"})
        self.assertEqual(listed["vision/demo_plain"]["paper"], [])
        self.assertIn("81.2 % top-1", self.succeed("recipes", "imagenet_pvt_medium", "--wide").stdout)
        self.cachet("recipes", "cp", "imagenet_pvt_medium", "mine.toml")
        self.assertNotIn("paper", (self.folder / "mine.toml").read_text().split("\n", 1)[1])

    def test_problems_name_the_place(self):
        (self.folder / "bad.toml").write_text(RECIPE + "[paper]\narxiv = '2312.12742'\nrow = 'Table 1'\n")
        self.assertIn("paper.value: is required in [paper]",
                      self.refused("train", "bad.toml", "--dry-run", cwd=self.folder))
        (self.folder / "bad.toml").write_text(RECIPE + PAPER + "table = 1\n")
        self.assertIn("paper.table: unknown key", self.refused("train", "bad.toml", "--dry-run", cwd=self.folder))


if __name__ == "__main__":
    command.main()
