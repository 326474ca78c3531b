"""tools/plug-in-values: the row of a run's norms and caches, by hand."""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "plug-in-values"


def event(step, **series):
    return json.dumps({"schema": 1, "kind": "step", "step": step, "metrics": {}, "series": series})


class PlugInValues(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write_run(self, name, lines, seed="3"):
        run = self.root / name
        run.mkdir(parents=True)
        (run / "run.json").write_text(json.dumps({"recipe": "a_recipe", "values": {"train.seed": seed}}))
        (run / "metrics.jsonl").write_text("\n".join(lines) + "\n")
        return run

    def rows(self, *folders, code=0):
        done = subprocess.run([sys.executable, SCRIPT, *folders], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout))) if code == 0 else done.stderr

    def test_a_row_by_hand(self):
        norms = {f"un/{layer}": [100, 50, count] for layer, count in (("a", 1), ("b", 2), ("c", 9))}
        half = {f"un/{layer}": [50, 25, count] for layer, count in (("a", 0), ("b", 1), ("c", 2))}
        records = {"pnac/a": [0.5, 1.0, 150], "pnac/b": [0.7, None, 150]}
        later = {"pnac/a": [0.1, 0.9, 150], "pnac/b": [0.3, 0.7, 150]}
        self.write_run("sweep/un/seed-3", [event(50, **half, **records), "{not json", event(
            100, **norms, **later, **{"share/x": [0.9, 0.7], "share/y": [0.6, 0.6], "share/z": [0.2, 0.4]})])
        self.write_run("sweep/layer/seed-0", [event(50), event(100)], seed="0")
        layer, un = self.rows(self.root / "sweep")
        self.assertEqual((un["run"], un["recipe"], un["seed"]), ("un/seed-3", "a_recipe", "3"))
        for column, value in (("pnac first", 0.6), ("pnac last", 0.2), ("gradient pnac first", 1.0), ("gradient pnac last", 0.8),
                              ("filtered first third", 1), ("filtered last third", 9), ("filtered first half", 1),
                              ("filtered second half", 3), ("layers above half", 2 / 3), ("share first half", 0.8),
                              ("share last layer", 0.3)):
            self.assertAlmostEqual(float(un[column]), value, msg=column)
        self.assertEqual(set(list(layer.values())[3:]), {""}, "LayerNorm has no statistics of its batches")

    def test_first_records_of_other_steps_are_an_error(self):
        record = {"pnac/a": [0.5, 1.0, 150]}
        self.write_run("sweep/un/seed-0", [event(150, **record), event(300, **record)])
        self.write_run("sweep/un/seed-1", [event(150), event(300, **record)])  # resumed
        self.write_run("sweep/layer/seed-0", [event(150), event(300)])
        self.assertIn("un/seed-1 has its first record of PNAC at step 300, another run at step 150",
                      self.rows(self.root / "sweep", code=1))

    def test_a_run_alone_has_its_name(self):
        run = self.write_run("one", [event(10)])
        self.assertEqual([row["run"] for row in self.rows(run)], ["one"])

    def test_a_folder_without_runs_is_an_error(self):
        self.assertIn("holds none", self.rows(self.root, code=1))
        self.assertIn("usage", self.rows(code=1))


if __name__ == "__main__":
    unittest.main()
