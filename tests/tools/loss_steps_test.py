"""tools/loss-steps: after how many steps a loss is reached, by hand."""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "loss-steps"


class LossSteps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write_run(self, name, losses, every=10):
        run = self.root / name
        run.mkdir(parents=True)
        (run / "run.json").write_text(json.dumps({"recipe": "a_recipe", "values": {"train.seed": "3"}}))
        lines = [json.dumps({"kind": "step", "step": every * (i + 1), "metrics": {"loss": loss}}) for i, loss in enumerate(losses)]
        evaluation = json.dumps({"kind": "evaluation", "step": every, "metrics": {"loss": 0.1}})
        (run / "metrics.jsonl").write_text("\n".join([*lines, evaluation, "{cut"]) + "\n")
        return run

    def rows(self, *words, code=0):
        done = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout))) if code == 0 else done.stderr

    def test_a_mean_reaches_a_loss_and_not_one_line(self):
        self.write_run("sweep/a/seed-3", [3, 1, 3, 2, 1, 1.5])  # means of two: -, 2, 2, 2.5, 1.5, 1.25
        row, = self.rows(self.root / "sweep", "--loss", "2.0", "--loss", "1.5", "--loss", "1.0", "--window", "20")
        self.assertEqual(row, {"run": "a/seed-3", "recipe": "a_recipe", "seed": "3", "steps to 2.0": "20", "reached 2.0": "1",
                               "steps to 1.5": "50", "reached 1.5": "1", "steps to 1.0": "60", "reached 1.0": "0",
                               "last training loss": "1.25"})

    def test_lines_count_by_their_steps(self):
        run = self.write_run("one", [])
        (run / "metrics.jsonl").write_text("".join(json.dumps({"kind": "step", "step": step, "metrics": {"loss": loss}}) + "\n"
                                                   for step, loss in ((10, 4), (15, 1), (40, 2), (45, 0))))
        row, = self.rows(run, "--loss", "1.9", "--window", "30")  # 10 to 40: (5 · 1 + 25 · 2) / 30; 15 to 45: 50 / 30
        self.assertEqual((row["run"], row["steps to 1.9"]), ("one", "40"))
        self.assertAlmostEqual(float(row["last training loss"]), 50 / 30)

    def test_mistakes(self):
        run = self.write_run("short", [2, 2])
        self.assertIn("no 50 steps that begin and end at a line", self.rows(run, "--loss", "1", code=1))
        self.assertIn("holds none", self.rows(self.root / "nothing", "--loss", "1", code=1))
        self.assertIn("--loss", self.rows(run, code=2))


if __name__ == "__main__":
    unittest.main()
