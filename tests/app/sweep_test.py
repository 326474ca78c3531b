"""A recipe trained with every combination of values that its table [sweep] lists."""
import csv
import fcntl
import os
import re
import shutil
import subprocess
import time
import tomllib

import command
from runs import RunTest

SWEEP = """
base = "tiny.toml"
[sweep]
seeds = 2
model.cache.ratio = [0.25, 0.5]
[sweep.variants.narrow]
model.embed_dim = 16
[sweep.variants.wide]
model.embed_dim = 32
"""


class Sweep(RunTest):
    SHORT = ["--progress", "none", "--set", "train.limit=4 steps"]
    POINTS = ["narrow-ratio_0.25", "narrow-ratio_0.5", "wide-ratio_0.25", "wide-ratio_0.5"]

    def setUp(self):
        super().setUp()
        (self.folder / "sweep.toml").write_text(SWEEP)

    def rows(self, folder):
        return list(csv.DictReader((self.folder / folder / "results.csv").read_text().splitlines()))

    def test_every_point_is_a_folder_of_seeds(self):
        done = self.cachet("sweep", "sweep.toml", "--run", "many", *self.SHORT)
        folders = [path.name for path in (self.folder / "many").iterdir() if path.is_dir() and not path.is_symlink()]
        self.assertEqual(sorted(folders), self.POINTS)
        self.assertEqual(len(self.rows("many")), 8)
        self.assertEqual({row["state"] for row in self.rows("many")}, {"finished"})
        for point in self.POINTS:
            self.assertIn(point + " (2 seeds)", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "many/report.html")
        self.assertIn("<svg", (self.folder / "many/report.html").read_text())
        self.train("alone", "--set", "train.limit=4 steps", "--seed", "1", "--set", "model.embed_dim=32", "--set",
                   "model.cache.ratio=0.25")
        self.assertEqual(self.weights("many/wide-ratio_0.25/seed-1"), self.weights("alone"))
        self.assertNotIn("sweep", (self.folder / "many/wide-ratio_0.25/seed-1/resolved.toml").read_text())

    def test_seeds_of_the_command_line_take_the_place_of_the_recipes(self):
        words = ["sweep", "sweep.toml", "--run", "many", *self.SHORT]
        self.cachet(*words, "--seeds", "3,7")
        self.assertEqual(sorted(row["seed"] for row in self.rows("many")), ["3"] * 4 + ["7"] * 4)
        self.cachet(*words, "--seeds", "3,8", "--resume")
        self.assertEqual(sorted(row["seed"] for row in self.rows("many")), ["3"] * 4 + ["7"] * 4 + ["8"] * 4)
        self.assertIn("a list of different seeds", self.refused("sweep", "sweep.toml", "--run", "new", "--seeds", "3,3", cwd=self.folder))
        self.assertFalse((self.folder / "new").exists())

    def test_goes_on_with_what_is_not_done(self):
        words = ["sweep", "sweep.toml", "--run", "many", *self.SHORT]
        self.cachet(*words)
        shutil.rmtree(self.folder / "many/wide-ratio_0.5")
        shutil.rmtree(self.folder / "many/narrow-ratio_0.5/seed-1")
        kept = (self.folder / "many/wide-ratio_0.25/seed-0/metrics.jsonl").read_bytes()
        self.assertIn("--resume", self.refused(*words, cwd=self.folder))
        self.assertIn("# wide-ratio_0.5", self.cachet("sweep", "sweep.toml", "--run", "many", "--print").stdout)
        (self.folder / "other.toml").write_text(SWEEP)
        kept_recipe = (self.folder / "many/sweep.toml").read_text()
        self.assertIn("contains the sweep of another recipe", self.refused("sweep", "other.toml", "--run", "many", *self.SHORT,
                                                                        "--resume", cwd=self.folder))
        self.assertEqual((self.folder / "many/sweep.toml").read_text(), kept_recipe)
        self.cachet(*words, "--resume")
        self.assertEqual(len(self.rows("many")), 8)
        self.assertEqual((self.folder / "many/wide-ratio_0.25/seed-0/metrics.jsonl").read_bytes(), kept)
        (self.folder / "sweep.toml").write_text(SWEEP.replace("[0.25, 0.5]", "[0.25, 0.5, 1]"))
        self.cachet(*words, "--resume")  # points that were added to the file
        self.assertEqual(len(self.rows("many")), 12)
        self.assertEqual((self.folder / "many/wide-ratio_0.25/seed-0/metrics.jsonl").read_bytes(), kept)

    def test_processes_share_the_seeds_of_all_points(self):
        words = ["sweep", "sweep.toml", "--run", "many", "--progress", "none", "--set", "train.limit=60 steps"]
        first = subprocess.Popen([command.COMMAND, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
        deadline = time.monotonic() + 100
        while not (self.folder / "many" / self.POINTS[0]).exists():
            self.assertIsNone(first.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)
        second = self.cachet(*words, "--resume")
        said = [first.communicate()[1], second.stderr]
        self.assertEqual(first.returncode, 0, said)
        begun = [re.findall(r"(?m)^training in many/(\S+)", text) for text in said]
        self.assertEqual(len(begun[0] + begun[1]), 8, said)
        self.assertEqual(len(set(begun[0] + begun[1])), 8, said)
        self.assertTrue(begun[0] and begun[1], said)
        self.assertEqual({row["state"] for row in self.rows("many")}, {"finished"})
        self.assertEqual(len(self.rows("many")), 8)

    def test_what_another_process_trains_is_passed_by(self):
        words = ["sweep", "sweep.toml", "--run", "many", *self.SHORT]
        self.cachet(*words)
        (self.folder / "many/wide-ratio_0.5/seed-0/status.json").unlink()
        shutil.rmtree(self.folder / "many/wide-ratio_0.5/seed-1")
        folder = os.open(self.folder / "many/wide-ratio_0.5/seed-0", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        done = self.cachet(*words, "--resume")
        self.assertIn("1 of 4 configurations has seeds that other processes are training", done.stderr)
        self.assertTrue((self.folder / "many/wide-ratio_0.5/seed-1/checkpoints/last").exists())
        self.assertFalse((self.folder / "many/wide-ratio_0.5/seed-0/status.json").exists())
        fcntl.flock(folder, fcntl.LOCK_UN)
        self.cachet(*words, "--resume")
        self.assertEqual({row["state"] for row in self.rows("many")}, {"finished"})
        self.assertEqual(len(self.rows("many")), 8)

    def test_a_point_that_fails_is_a_row_and_the_others_go_on(self):
        (self.folder / "sweep.toml").write_text('base = "tiny.toml"\n[sweep]\ndata.root = ["images", "nowhere"]\n')
        done = command.run("sweep", "sweep.toml", "--run", "many", "--seeds", "1", *self.SHORT, cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 of 2 configurations failed", done.stderr)
        self.assertIn("cachet sweep sweep.toml --set 'train.limit=4 steps' --seeds 1 --run many --resume", done.stderr)
        self.assertRegex(done.stdout, "(?m)^state +finished +could not begin$")
        self.assertRegex(done.stdout, "(?m)^run +root_images +root_nowhere$")
        self.assertIn("there is no folder", (self.folder / "many/report.html").read_text())
        self.assertEqual([row["state"] for row in self.rows("many")], ["finished"])

    def test_a_damaged_point_ends_only_itself(self):
        words = ["sweep", "sweep.toml", "--run", "many", *self.SHORT]
        self.cachet(*words)
        (self.folder / "many/wide-ratio_0.5/run.json").write_text("{")
        shutil.rmtree(self.folder / "many/wide-ratio_0.25/seed-1")
        done = command.run(*words, "--resume", cwd=self.folder)
        self.assertIn("1 of 4 configurations failed", done.stderr)
        self.assertTrue((self.folder / "many/wide-ratio_0.25/seed-1/checkpoints/last").exists())

    def test_processes_that_begin_at_once_share_it(self):
        words = ["sweep", "sweep.toml", "--run", "many", *self.SHORT, "--resume"]
        both = [subprocess.Popen([command.COMMAND, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True) for _ in range(2)]
        said = [process.communicate(timeout=200)[1] for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0], said)
        self.assertEqual({row["state"] for row in self.rows("many")}, {"finished"})

    def test_mistakes_begin_nothing(self):
        (self.folder / "sweep.toml").write_text('base = "tiny.toml"\n[sweep]\nmodel.cache.ration = [0.5]\n')
        self.assertIn("did you mean", self.refused("sweep", "sweep.toml", "--run", "many", cwd=self.folder))
        self.assertIn("must have a table [sweep]", self.refused("sweep", "tiny.toml", "--run", "many", cwd=self.folder))
        self.assertFalse((self.folder / "many").exists())
        (self.folder / "mine").mkdir()
        (self.folder / "mine/notes.txt").write_text("notes")
        (self.folder / "sweep.toml").write_text(SWEEP)
        self.assertIn("contains files that do not belong to a sweep", self.refused("sweep", "sweep.toml", "--run", "mine", cwd=self.folder))

    def test_a_copy_keeps_the_table(self):
        (self.folder / "sweep.toml").write_text(SWEEP + "[sweep.variants.as_it_is]\n")
        self.cachet("recipes", "cp", "sweep.toml", "mine.toml")
        tables = [tomllib.loads((self.folder / file).read_text()) for file in ("sweep.toml", "mine.toml")]
        self.assertEqual(tables[0]["sweep"], tables[1]["sweep"])
        self.assertNotIn("base", tables[1])
        self.assertEqual(self.cachet("sweep", "mine.toml", "--print").stdout.count("# as_it_is-"), 2)

    def test_can_be_looked_at_first(self):
        printed = self.cachet("sweep", "sweep.toml", "--print").stdout
        for point in self.POINTS:
            self.assertIn("# " + point, printed)
        self.assertEqual(printed.count("[model.cache]"), 4)
        self.assertEqual(self.cachet("sweep", "sweep.toml", "--dry-run").stdout.count("a step"), 4)
        self.assertFalse((self.folder / "runs").exists())


if __name__ == "__main__":
    command.main()
