"""tools/add-evidence: a finished sweep is one file, and one that has not ended is refused."""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "add-evidence"
RUNS = ("a/seed-0", "a/seed-1", "b/seed-0", "b/seed-1")


class AddEvidence(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sweep = pathlib.Path(folder.name) / "sweep"
        self.output = pathlib.Path(folder.name) / "found.csv"
        for name in RUNS:
            run = self.sweep / name
            run.mkdir(parents=True)
            (run / "run.json").write_text(json.dumps({"recipe": "evidence_small", "values": {"train.seed": name[-1]}}))
            series = {"pnac/x": [0.5, None, 8]} if name.startswith("a") else {}
            (run / "metrics.jsonl").write_text("".join(
                json.dumps({"kind": "step", "step": step, "metrics": {"loss": loss}, "series": series}) + "\n"
                for step, loss in ((50, 3.0), (100, 1.0))))
        (self.sweep / "sweep.toml").write_text("[sweep]\nseeds = 2\n[sweep.variants.a]\nx = 1\n[sweep.variants.b]\nx = 2\n")
        self.write([(name, "finished") for name in RUNS])

    def write(self, states):
        rows = "".join(f"{name},evidence_small,{name[-1]},{state},0.5\n" for name, state in states)
        (self.sweep / "results.csv").write_text("run,recipe,seed,state,top-1\n" + rows)

    def run_tool(self, *words, code=0):
        done = subprocess.run([sys.executable, SCRIPT, self.sweep, "-o", self.output, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_all_columns_of_a_run_are_in_its_line(self):
        self.run_tool("--loss", "2.0")
        with self.output.open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["run"] for row in rows], list(RUNS))
        self.assertEqual(rows[0], {"run": "a/seed-0", "recipe": "evidence_small", "seed": "0", "state": "finished", "top-1": "0.5",
                                   "pnac first": "0.5", "pnac last": "0.5", "steps to 2.0": "100", "reached 2.0": "1",
                                   "last training loss": "1.0"})
        self.assertEqual(rows[2]["pnac first"], "")

    def test_a_run_that_failed_is_kept(self):
        self.write([(RUNS[0], "not finite"), *((name, "finished") for name in RUNS[1:])])
        self.run_tool()
        self.assertIn("not finite", self.output.read_text())

    def test_a_sweep_that_has_not_ended_is_refused(self):
        self.write([(name, "finished") for name in RUNS[:3]])
        self.assertIn("has 3 of 4 runs; resume the sweep", self.run_tool(code=1))
        self.write([*((name, "finished") for name in RUNS[:3]), (RUNS[3], "interrupted")])
        self.assertIn("the run b/seed-1 is interrupted; resume the sweep", self.run_tool(code=1))
        (self.sweep / "results.csv").unlink()
        self.assertIn("has no results.csv", self.run_tool(code=1))
        self.assertFalse(self.output.exists())


if __name__ == "__main__":
    unittest.main()
