"""Runs that version 0.1.0 began and a signal stopped: today's command evaluates, resumes, compares and exports them, and prints
the numbers that version 0.1.0 printed when it did the same."""
import json
import shutil

import command
import language_test
import runs

OLD = command.ROOT / "tests/data/saved_by_0_1_0/interrupted"
# Today's numbers equal those of 0.1.0 to the bit on the machine that made the fixture. Another processor adds up float32 in another
# order; 36 steps then differ by less than this part of a value.
RELATIVE = 1e-5


class EarlierRun:
    """`kind`: the folder in the fixture."""
    kind = None
    counted_twice = 0  # parameters of tables that 0.1.0 counted twice in an export because two modules share them

    def setUp(self):
        super().setUp()
        shutil.copytree(OLD / self.kind / "run", self.folder / "run")
        self.write_data()

    def printed(self, name):
        """What version 0.1.0 printed."""
        return json.loads((OLD / self.kind / name).read_text())

    def assert_numbers(self, now, before, where):
        """Each value of `before` has its equal in `now`, which may have more keys."""
        if isinstance(before, dict):
            for key, value in before.items():
                self.assertIn(key, now, where)
                self.assert_numbers(now[key], value, f"{where}.{key}")
        elif isinstance(before, list):
            self.assertEqual(len(now), len(before), where)
            for place, value in enumerate(before):
                self.assert_numbers(now[place], value, f"{where}[{place}]")
        elif isinstance(before, float):
            self.assertAlmostEqual(now, before, delta=RELATIVE * abs(before), msg=where)
        else:
            self.assertEqual(now, before, where)

    def resume(self):
        return self.cachet("train", "run", "--resume", "--progress", "none")

    def events(self, path):
        return [{key: value for key, value in json.loads(line).items() if key != "machine"} for line in path.read_text().splitlines()]

    def assert_evaluation(self, name):
        before = self.printed(name)
        before["metrics"] = self.by_todays_rule(before["metrics"])
        self.assert_numbers(self.json_of("eval", "run", "--json", cwd=self.folder), before, name)

    def test_it_is_evaluated_as_it_stands(self):
        self.assert_evaluation("eval.json")

    def test_it_resumes_and_its_numbers_are_those_of_0_1_0(self):
        said = self.resume().stderr
        self.assertIn("resuming from run/checkpoints/step-00000017 (step 17)", said)
        self.assert_numbers(self.events(self.folder / "run/metrics.jsonl"), self.events(OLD / self.kind / "resumed_metrics.jsonl"), "log")
        self.assert_evaluation("resumed_eval.json")
        self.answers()
        shutil.copytree(OLD / self.kind / "run", self.folder / "interrupted")
        compared = self.json_of("compare", "run", "interrupted", "--json", cwd=self.folder)
        for now, before in zip(compared["runs"], self.printed("compare.json")["runs"], strict=True):
            for key in ("name", "recipe", "seed", "state", "step"):
                self.assertEqual(now[key], before[key], key)
            measured = ("training time", "training images/s", "training tokens/s")
            numbers = {self.name_today(key): value for key, value in before["metrics"].items() if key not in measured}
            self.assert_numbers(now["metrics"], numbers, now["name"])
        exported = self.json_of("export", "run", "-o", "exported", "--engine", "torch", "--json", "--progress", "none", cwd=self.folder)
        before = self.printed("export.json")
        for key in ("model", "engine", "precision", "samples", "same_class"):
            self.assertEqual(exported[key], before[key], key)
        self.assertEqual(exported["parameters"], [count - self.counted_twice for count in before["parameters"]])
        self.assertEqual([rewrite["place"] for rewrite in exported["rewritten"]], [rewrite["place"] for rewrite in before["rewritten"]])
        self.assertLess(exported["largest_difference"], 1e-5)


class Images(EarlierRun, runs.RunTest):
    """A vision transformer with a gated recurrent cache, unified normalization and averaged weights."""
    kind = "images"

    def write_data(self):
        """`RunTest` has written the images."""

    def by_todays_rule(self, metrics):
        return metrics

    def name_today(self, name):
        return name

    def answers(self):
        for number in range(3):
            runs.write_png(self.folder / f"{number}.png", 8, 8, runs.pixels(number))
        said = self.cachet("predict", "run", "0.png", "1.png", "2.png").stdout
        before = (OLD / self.kind / "predict.jsonl").read_text()
        self.assert_numbers(*[[json.loads(line) for line in text.splitlines()] for text in (said, before)], "predict")


class Texts(EarlierRun, command.FolderTest):
    """A language model of bytes with a gated recurrent cache."""
    kind = "texts"
    counted_twice = 257 * 8  # bytes and the end of a text, by `embed_dim`

    def write_data(self):
        (self.folder / "texts").mkdir()
        for name, lines, first in (("train", 120, 0), ("valid", 20, 5), ("test", 21, 9)):
            (self.folder / f"texts/{name}.txt").write_text(language_test.text(lines, first))

    def by_todays_rule(self, metrics):
        """`eval` divides bits by the bytes that the model predicts; 0.1.0 counted the first byte too, which nothing predicts."""
        size = len((self.folder / "texts/test.txt").read_bytes())
        return {name: value * size / (size - 1) if name.startswith("bits_") else value for name, value in metrics.items()}

    def name_today(self, name):
        """The run keeps the rule of 0.1.0, and the names of the numbers that `compare` prints have it."""
        for unit in ("bits per byte", "bits per character"):
            name = name.replace(unit, unit + " of the whole text")
        return name

    def answers(self):
        said = self.cachet("generate", "run", "--prompt", "word1 w", "--tokens", "30", "--seed", "3").stdout
        self.assertEqual(said, (OLD / self.kind / "generate.txt").read_text())


if __name__ == "__main__":
    command.main()
