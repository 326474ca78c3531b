"""One recipe trained with several seeds in one folder."""
import csv
import fcntl
import os
import re
import shutil
import signal
import subprocess
import time
import tomllib

import command
from runs import RunTest


class Seeds(RunTest):
    SHORT = ["--progress", "none", "--set", "train.limit=8 steps"]

    def states(self, folder):
        rows = csv.DictReader((self.folder / folder / "results.csv").read_text().splitlines())
        return {row["seed"]: row["state"] for row in rows}

    def test_each_is_the_run_of_its_own(self):
        done = self.cachet("train", "tiny.toml", "--seeds", "3", "--run", "many", *self.SHORT)
        self.assertIn("many (3 seeds)", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "many/report.html")
        self.assertEqual(self.states("many"), {"0": "finished", "1": "finished", "2": "finished"})
        self.train("alone", "--set", "train.limit=8 steps", "--seed", "1")
        self.assertEqual(self.weights("many/seed-1"), self.weights("alone"))
        self.assertNotEqual(self.weights("many/seed-0"), self.weights("alone"))
        self.assertIn("<svg", (self.folder / "many/report.html").read_text())
        self.cachet("eval", "many/seed-2")
        self.assertIn("many/seed-0", self.refused("eval", "many", cwd=self.folder, code=1))
        (self.folder / "many").rename(self.folder / "my seeds")
        self.assertIn("'my seeds/seed-0'", self.refused("eval", "my seeds", cwd=self.folder, code=1))

    def test_goes_on_with_what_is_unfinished_and_adds_seeds(self):
        words = ["train", "tiny.toml", "--seeds", "4,0", "--runs", "all", *self.SHORT]
        self.cachet(*words)
        folder, = (path for path in (self.folder / "all").iterdir() if not path.is_symlink())
        self.assertEqual((self.folder / "all" / "latest").resolve(), folder)
        shutil.rmtree(folder / "seed-0")
        before = (folder / "seed-4" / "command.txt").read_text()
        self.cachet(*words, "--resume")
        self.assertEqual(self.states(folder), {"4": "finished", "0": "finished"})
        self.assertEqual((folder / "seed-4" / "command.txt").read_text(), before)  # it was done
        self.cachet("train", str(folder), "--resume", "--seeds", "4,7", "--progress", "none")
        self.assertEqual(self.states(folder), {"4": "finished", "0": "finished", "7": "finished"})
        self.cachet("train", str(folder), "--resume", "--set", "train.limit=10 steps", "--progress", "none")
        for seed in (4, 0, 7):
            self.assertEqual(self.events(folder / f"seed-{seed}")[-1]["step"], 10)

    def test_processes_share_them(self):
        words = ["train", "tiny.toml", "--seeds", "4", "--run", "many", "--progress", "none", "--set", "train.limit=60 steps", "--resume"]
        both = [subprocess.Popen([command.COMMAND, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for _ in range(2)]
        said = [process.communicate(timeout=200)[1] for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0], said)
        begun = [re.findall(r"(?m)^training in many/seed-(\d)", text) for text in said]
        self.assertEqual(sorted(begun[0] + begun[1]), ["0", "1", "2", "3"], said)
        self.assertTrue(begun[0] and begun[1], said)
        self.assertEqual(self.states("many"), {seed: "finished" for seed in "0123"})

    def test_processes_share_them_where_no_folder_is_named(self):
        for words in (["--seeds", "2"], []):
            with self.subTest(words):
                runs = f"runs{len(words)}"
                both = [subprocess.Popen([command.COMMAND, "train", "tiny.toml", "--runs", runs, *words, *self.SHORT, "--resume"],
                                         cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                        for _ in range(2)]
                said = [process.communicate(timeout=200)[1] for process in both]
                self.assertEqual(len([run for run in (self.folder / runs).iterdir() if not run.is_symlink()]), 1, said)
                # A process that comes late to a run of one seed gets a message that it is taken, or finds it done.
                self.assertIn(0, [process.returncode for process in both], said)

    def test_one_that_another_process_trains_is_passed_by(self):
        words = ["train", "tiny.toml", "--seeds", "3", "--run", "many", *self.SHORT]
        self.cachet(*words)
        (self.folder / "many/seed-1/status.json").unlink()
        shutil.rmtree(self.folder / "many/seed-2")
        folder = os.open(self.folder / "many/seed-1", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        done = self.cachet(*words, "--resume")
        self.assertIn("seed 1 is being trained by other processes", done.stderr)
        self.assertEqual(self.states("many")["2"], "finished")
        fcntl.flock(folder, fcntl.LOCK_UN)
        self.cachet(*words, "--resume")
        self.assertEqual(self.states("many"), {seed: "finished" for seed in "012"})

    def test_ctrl_c_stops_all_of_them(self):
        process = subprocess.Popen([command.COMMAND, "train", "tiny.toml", "--seeds", "2", "--run", "many",
                                    "--progress", "none", "--set", "train.epochs=200"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        log = self.folder / "many/seed-0/metrics.jsonl"
        deadline = time.monotonic() + 200
        while not (log.exists() and log.read_text().count("\n") > 2):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=200)
        self.assertEqual((process.returncode, output), (130, ""), errors)
        self.assertEqual(errors.splitlines()[-1], "interrupted in seed 0; resume with: cachet train many --resume")
        self.assertFalse((self.folder / "many/seed-1").exists())
        self.assertEqual(self.states("many"), {"0": "interrupted"})
        self.assertIn("not begun", (self.folder / "many/report.html").read_text())
        self.cachet("train", "many", "--resume", "--progress", "none", "--set", "train.limit=20 epochs")
        self.assertEqual(self.states("many"), {"0": "finished", "1": "finished"})
        self.assertEqual(self.events("many/seed-1")[-1]["step"], 240)

    def test_a_seed_that_fails_is_named_and_the_others_go_on(self):
        self.cachet("train", "tiny.toml", "--seeds", "3", "--run", "many", *self.SHORT)
        shutil.rmtree(self.folder / "many/seed-2")
        (self.folder / "many/seed-1/status.json").unlink()
        recipe = self.folder / "many/seed-1/run.json"
        whole = recipe.read_text()
        recipe.write_text("{")
        done = command.run("train", "many", "--resume", "--progress", "none", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cachet train: seed 1: ", done.stderr)
        self.assertIn("1 of 3 seeds failed", done.stderr)
        self.assertTrue((self.folder / "many/seed-2/checkpoints/last").exists())
        recipe.write_text(whole)
        self.cachet("train", "many", "--resume", "--progress", "none")
        self.assertEqual(self.states("many"), {"0": "finished", "1": "finished", "2": "finished"})

    def test_a_loss_that_is_not_finite_fails_its_seed(self):
        done = command.run("train", "tiny.toml", "--seeds", "2", "--run", "many", *self.SHORT, "--set",
                           "optimizer.lr=1e30", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        for part in ("seed 0: ", "seed 1: ", "2 of 2 seeds failed"):
            self.assertIn(part, done.stderr)
        self.assertEqual(self.states("many"), {"0": "not finite", "1": "not finite"})

    def test_looking_touches_nothing(self):
        printed = tomllib.loads(self.cachet("train", "tiny.toml", "--seeds", "5,6", "--print").stdout)
        self.assertEqual(printed["train"]["seed"], 5)
        self.assertIn("(4 runs)", self.cachet("train", "tiny.toml", "--seeds", "4", "--dry-run").stdout)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})

    def test_mistakes(self):
        for seeds in ("0", "two", "1,1", "1,,2", "-3", "0-4"):
            self.assertIn("--seeds", self.refused("train", "tiny.toml", f"--seeds={seeds}", cwd=self.folder))
        self.assertIn("leave --seed out", self.refused("train", "tiny.toml", "--seeds", "1,2", "--seed", "3", cwd=self.folder))
        self.refused("train", "tiny.toml", "--seeds", "2", "--run", "none", "--set", "data.root=nowhere",
                     cwd=self.folder, code=1)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"images", "tiny.toml"})
        self.cachet("train", "tiny.toml", "--seeds", "1", "--run", "many", *self.SHORT)
        self.train("single", "--set", "train.limit=2 steps")
        self.assertIn("exists already", self.refused("train", "tiny.toml", "--seeds", "1", "--run", "many",
                                                     cwd=self.folder, code=1))
        self.assertIn("--resume", self.refused("train", "many", cwd=self.folder))
        self.assertIn("one seed", self.refused("train", "single", "--seeds", "2", "--resume", cwd=self.folder))
        self.assertIn("one seed", self.refused("train", "tiny.toml", "--run", "single", "--seeds", "2", "--resume",
                                               cwd=self.folder))
        said = self.refused("train", "many", "--resume", "--set", "model.depth=2", cwd=self.folder, code=1, lines=4)
        self.assertIn("model.depth: 1 -> 2", said)


if __name__ == "__main__":
    command.main()
