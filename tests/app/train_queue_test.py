"""tools/train-queue: rows train one after the other, and a queue that was killed or ran out of time resumes them bit for bit."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import tomllib

import command
from command import ROOT
from runs import SMALL_ENCODER

TOOL = ROOT / "tools/train-queue"
ROWS = """
seeds = 2
settings = ["data.root=listops", "train.log_every=20 steps", "train.limit=40 steps", "train.epochs=100", SETTINGS]
[rows.plain]
recipe = "lra_listops_transformer"
paper = "a table"
value = "36.23 %"
[rows.broken]
recipe = "lra_listops_transformer"
settings = ["model.no_such_key=1"]
seeds = 1
[rows.cached]
recipe = "lra_listops_transformer_cached"
"""
LONG = ["--seeds", "1", "--set", "train.limit=500 steps"]


class TrainQueue(command.FolderTest):
    def setUp(self):
        super().setUp()
        self.cachet("data", "listops", "-o", "listops", "--train", "160", "--validation", "16", "--test", "16", "--longer-than", "20",
                    "--shorter-than", "60", "--progress", "none")
        self.write_rows(ROWS)

    def write_rows(self, text):
        small = ", ".join(f'"{setting}"' for setting in SMALL_ENCODER if "=" in setting)
        (self.folder / "rows.toml").write_text(text.replace("SETTINGS", small))

    def words(self, folder, *words):
        return [sys.executable, TOOL, "rows.toml", "--folder", folder, "--cachet", command.COMMAND, *words]

    def queue(self, folder, *words, code=0):
        done = subprocess.run(self.words(folder, *words), cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def results(self, folder):
        return list(csv.DictReader((self.folder / folder / "results.csv").read_text().splitlines()))

    def measurements(self, run):
        """The lines of a run without its times."""
        lines = map(json.loads, (self.folder / run / "metrics.jsonl").read_text().splitlines())
        return [{name: value for name, value in line.items() if name != "machine"} for line in lines]

    def weights(self, run):
        checkpoints = self.folder / run / "checkpoints"
        last = checkpoints / (checkpoints / "last").read_text().strip()
        return {path.name: path.read_bytes() for path in last.glob("*.safetensors")}

    def assert_equal_runs(self, first, second):
        self.assertEqual(self.measurements(first), self.measurements(second))
        self.assertTrue(self.weights(first))
        self.assertEqual(self.weights(first), self.weights(second))

    def start(self, folder, *words):
        """A queue whose first run has made 20 steps."""
        process = subprocess.Popen(self.words(folder, *words), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        measured, end = self.folder / folder / "plain/seed-0/metrics.jsonl", time.monotonic() + 60
        while not measured.exists() or not measured.read_bytes():
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(process.poll())
            time.sleep(0.005)
        return process

    def test_a_row_that_fails_is_named_and_the_others_are_trained(self):
        said = self.queue("queue", code=1)
        self.assertEqual([row["run"] for row in self.results("queue")], ["cached/seed-0", "cached/seed-1", "plain/seed-0", "plain/seed-1"])
        self.assertEqual({row["state"] for row in self.results("queue")}, {"finished"})
        ended = [line.split(":")[0] for line in said.splitlines() if ": finished" in line]
        self.assertEqual(ended, ["plain/seed-0", "cached/seed-0", "plain/seed-1", "cached/seed-1"])
        self.assertRegex(said, r"plain/seed-0: finished, \d+\.\d\d % \(paper 36\.23 %\)")
        self.assertRegex(said, r"broken/seed-0 failed: .*model\.no_such_key: unknown key")
        self.assertIn("4 of 5 runs ended", said)
        # The failed run is tried again, without training the others, and a corrected row is trained.
        self.assertNotIn("plain/seed-0: training", self.queue("queue", code=1))
        self.write_rows(ROWS.replace("model.no_such_key=1", "model.depth=2"))
        self.assertIn("5 of 5 runs ended; nothing is left", self.queue("queue"))

    def test_a_killed_queue_resumes(self):
        self.write_rows(ROWS.replace("model.no_such_key=1", "model.depth=2"))
        self.queue("whole", *LONG)
        process = self.start("killed", *LONG)
        process.send_signal(signal.SIGKILL)
        process.wait()
        said = self.queue("killed", *LONG)
        self.assertIn("plain/seed-0: finished", said)
        self.assertIn("interrupted at step", (self.folder / "killed/plain.seed-0.log").read_text())
        for row in ("plain", "broken", "cached"):
            self.assert_equal_runs(f"whole/{row}/seed-0", f"killed/{row}/seed-0")

    def test_a_run_that_was_killed_resumes(self):
        """Without the time to save a checkpoint."""
        words = [*LONG, "--set", "train.checkpoint_every=10 steps"]
        self.queue("whole", *words, code=1)
        process = self.start("killed", *words)
        status = self.folder / "killed/plain/seed-0/status.json"
        child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
        os.kill(child, signal.SIGKILL)
        said, _ = process.communicate(timeout=300)
        self.assertIn(b"plain/seed-0: failed: ended by signal 9", said)
        self.assertEqual(json.loads(status.read_text())["state"], "running")
        self.assertIn("plain/seed-0: finished", self.queue("killed", *words, code=1))
        self.assert_equal_runs("whole/plain/seed-0", "killed/plain/seed-0")

    def test_the_time_ends_a_run_which_the_next_call_resumes(self):
        words = ["--seeds", "1", "--set", "train.limit=1000000 steps", "--set", "train.epochs=100000"]
        said = self.queue("queue", "--minutes", "0.03", *words)
        self.assertRegex(said, r"plain +0 +step [\d,]+ of 1,000,000 ")
        self.assertIn("0 of 3 runs ended", said)
        self.assertNotIn("cached/seed-0: training", said)
        self.assertEqual(self.queue("queue", "--list", *words).splitlines(), said.splitlines()[1:])
        status = json.loads((self.folder / "queue/plain/seed-0/status.json").read_text())
        self.assertEqual(status["state"], "interrupted")
        before = status["step"]
        self.queue("queue", "--minutes", "0.03", *words)
        self.assertGreater(json.loads((self.folder / "queue/plain/seed-0/status.json").read_text())["step"], before)

    def test_a_signal_saves_the_run(self):
        process = self.start("queue", *LONG)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        self.assertEqual(json.loads((self.folder / "queue/plain/seed-0/status.json").read_text())["state"], "interrupted")
        self.assertFalse((self.folder / "queue/results.csv").exists())

    def test_other_settings_need_another_folder(self):
        self.queue("queue", "--steps", "2", "--seeds", "1", code=1)
        self.assertEqual({row["step"] for row in self.results("queue")}, {"2"})
        self.assertIn("has runs with other settings (train.limit=2 steps); name another --folder", self.queue("queue", code=1))
        self.assertIn("leave out --steps", self.queue("queue", "--steps", "2", "--evidence", code=2))

    def test_results_without_their_folder_are_not_trained_again(self):
        self.queue("queue", "--seeds", "1", code=1)
        (self.folder / "again").mkdir()
        (self.folder / "queue/results.csv").rename(self.folder / "again/results.csv")
        said = self.queue("again", "--seeds", "1", code=1)
        self.assertIn("2 of 3 runs ended", said)
        self.assertNotIn("plain/seed-0: training", said)

    def test_evidence_is_next_to_the_rows(self):
        self.queue("queue", "--seeds", "1", "--evidence", code=1)
        rows = list(csv.DictReader((self.folder / "rows.csv").read_text().splitlines()))
        self.assertEqual([row["run"] for row in rows], ["cached/seed-0", "plain/seed-0"])
        self.assertIn("2 of 3 runs ended", self.queue("other", "--seeds", "1", "--evidence", "--list"))

    def test_mistakes_in_rows(self):
        for text, message in (("[rows.a]\nrecipes = 'x'", r"\[rows.a\] has the unknown key recipes"), ("[rows.a]", "has no recipe"),
                              ("seeds = 2", "has no rows"), ("[rows", "rows.toml: ")):
            (self.folder / "rows.toml").write_text(text)
            self.assertRegex(self.queue("queue", code=1), message)


class Arena(command.CommandTest):
    def test_its_rows_are_those_of_recipes_and_of_the_page(self):
        table = tomllib.loads((ROOT / "docs/evidence/arena.toml").read_text())
        page = (ROOT / "docs/evidence.md").read_text()
        with_figure = 0
        for name, row in table["rows"].items():
            recipe = tomllib.loads((ROOT / f"recipes/lra/{row['recipe']}.toml").read_text())
            if paper := recipe["paper"]:
                self.assertEqual((row["paper"], row["value"]), (f"{paper['arxiv']}, {paper['row']}", paper["value"]), name)
                with_figure += 1
            else:
                subwords = tomllib.loads((ROOT / f"recipes/lra/{row['recipe'].removesuffix('_bytes')}.toml").read_text())["paper"]
                self.assertEqual((row["paper"], row["value"]), (f"{subwords['arxiv']}, {subwords['row']}", subwords["value"]), name)
            self.assertRegex(page, rf"\| `{row['recipe']}` \| {row['paper'][:19]} \| {row['value'][:5]} \| "
                                   rf"\{{result\(arena, '{name}'\)\}} \|")
        self.assertEqual(with_figure, 11)


if __name__ == "__main__":
    command.main()
