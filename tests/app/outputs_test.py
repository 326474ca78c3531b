"""Outputs that a command resumes have one writer at a time, what earlier writers left is still read, no output and no file of a
run is written through a link, and a file that cannot be written is reported."""
import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess
import time

import command
from runs import RunTest, pixels, write_png

SHORT = ["--set", "train.limit=4 steps"]


class Outputs(RunTest):
    def setUp(self):
        super().setUp()
        self.train("run", *SHORT)

    def start(self, *words, **options):
        return subprocess.Popen([command.COMMAND, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                **options)

    def wait_for(self, path):
        deadline = time.monotonic() + 100
        while not path.exists():
            self.assertLess(time.monotonic(), deadline, path)
            time.sleep(0.005)

    def refusal(self, *words, code=2, **options):
        return self.refused(*words, cwd=self.folder, code=code, **options)

    def lock(self, path):
        """Has the file or folder for itself until the end of the test."""
        file = os.open(self.folder / path, os.O_RDONLY)
        self.addCleanup(os.close, file)
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def write_pictures(self, count):
        (self.folder / "mine").mkdir()
        for number in range(count):
            write_png(self.folder / f"mine/{number}.png", 8, 8, pixels(number))


class Writers(Outputs):
    def test_a_file_of_predictions_has_one_writer(self):
        self.write_pictures(3)
        first = self.start("predict", "run", "--lines", "-", "-o", "p.jsonl", stdin=subprocess.PIPE)
        first.stdin.write("mine/0.png\n")
        first.stdin.flush()
        self.wait_for(self.folder / "p.jsonl")
        for words in (["predict", "run", "mine", "-o", "p.jsonl"], ["predict", "run", "-o", "p.jsonl", "--overwrite"]):
            self.assertIn("p.jsonl: another process is writing this file; wait for it", self.refusal(*words, code=1))
        self.assertEqual(first.communicate("mine/1.png\nmine/2.png\n", timeout=100)[1], "")
        self.assertEqual(first.returncode, 0)
        lines = (self.folder / "p.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["index"] for line in lines], [0, 1, 2])
        self.assertIn("holds 3 of 3", self.cachet("predict", "run", "mine", "-o", "p.jsonl").stderr)

    def test_folders_of_results_have_one_writer(self):
        for kind, words in (("eval", ["eval", "run"]), ("analyze", ["analyze", "run", "--what", "gates", "--samples", "8"])):
            folder = f"of-{kind}"
            self.cachet(*words, "-o", folder)
            before = {path: path.read_bytes() for path in (self.folder / folder).rglob("*") if path.is_file()}
            file = self.lock(folder)
            for overwrite in ([], ["--overwrite"]):
                said = self.refusal(*words, "-o", folder, *overwrite, code=1)
                self.assertIn(f"{folder}: another process is writing to this folder; wait for it", said)
            self.assertEqual({path: path.read_bytes() for path in (self.folder / folder).rglob("*") if path.is_file()}, before)
            fcntl.flock(file, fcntl.LOCK_UN)
            self.cachet(*words, "-o", folder)

    def test_writers_that_begin_at_once_leave_whole_results(self):
        whole = self.cachet("eval", "run", "-o", "whole").stdout
        for number in range(5):
            folder = f"e{number}"
            both = [self.start("eval", "run", "-o", folder) for _ in range(2)]
            for process in both:
                out, errors = process.communicate(timeout=100)
                self.assertIn(process.returncode, (0, 1), errors)
                if process.returncode == 1:
                    self.assertIn("another process", errors)
                else:
                    self.assertEqual(out, whole.replace("whole/", folder + "/"))
            self.assertIn(0, [process.returncode for process in both])
            self.assertEqual((self.folder / folder / "predictions.jsonl").read_bytes(),
                             (self.folder / "whole/predictions.jsonl").read_bytes())

    def test_what_two_writers_left_is_still_read(self):
        whole = self.cachet("eval", "run", "-o", "e").stdout
        kept = self.folder / "e/predictions.jsonl"
        lines = kept.read_text().splitlines(keepends=True)
        for left in ("".join(2 * line for line in lines), "".join(lines + lines),
                     lines[0] + lines[1][:30] + lines[1] + lines[1][30:] + "".join(lines[1:])):
            kept.write_text(left)
            done = self.cachet("eval", "run", "-o", "e")
            self.assertRegex(done.stderr, r"e/predictions.jsonl: removed \d+ repeated or damaged lines")
            self.assertIn(f"holds {len(lines)} of {len(lines)} predictions", done.stderr)
            self.assertEqual(done.stdout, whole)
            self.assertEqual(kept.read_text(), "".join(lines))
        self.cachet("predict", "run", "-o", "p.jsonl")
        predicted = self.folder / "p.jsonl"
        lines = predicted.read_text().splitlines(keepends=True)
        predicted.write_text("".join(2 * line for line in lines))
        self.assertIn(f"holds {len(lines)} of {len(lines)}", self.cachet("predict", "run", "-o", "p.jsonl").stderr)
        self.assertEqual(predicted.read_text(), "".join(lines))

    def test_sweeps_that_begin_at_once_share_the_folder(self):
        (self.folder / "sweep.toml").write_text('base = "tiny.toml"\n[sweep]\nmodel.embed_dim = [16, 32]\n')
        for number in range(3):
            words = ["sweep", "sweep.toml", "--run", f"many{number}", "--resume", "--progress", "none", *SHORT]
            all_of_them = [self.start(*words) for _ in range(3)]
            for process in all_of_them:
                errors = process.communicate(timeout=200)[1]
                self.assertEqual(process.returncode, 0, errors)


class Links(Outputs):
    def setUp(self):
        super().setUp()
        (self.folder / "of_somebody").write_text("as it was\n")

    def link(self, name):
        (self.folder / name).symlink_to(os.path.relpath(self.folder / "of_somebody", (self.folder / name).parent))
        return self.folder / name

    def assert_untouched(self):
        self.assertEqual((self.folder / "of_somebody").read_text(), "as it was\n")

    def test_an_output_that_is_a_link_is_replaced_only_when_asked(self):
        for name, words in (("p.jsonl", ["predict", "run"]), ("c.html", ["compare", "run", "run/"])):
            path = self.link(name)
            self.assertIn(f"{name} is a symbolic link; give another path", self.refusal(*words, "-o", name))
            self.assertTrue(path.is_symlink())
            self.cachet(*words, "-o", name, "--overwrite")
            self.assertFalse(path.is_symlink())
            self.assert_untouched()
        (self.folder / "dangling.jsonl").symlink_to("nowhere")
        self.refusal("predict", "run", "-o", "dangling.jsonl")
        self.assertFalse((self.folder / "nowhere").exists())
        (self.folder / "to_metrics.jsonl").symlink_to("run/metrics.jsonl")
        metrics = (self.folder / "run/metrics.jsonl").read_bytes()
        self.cachet("predict", "run", "-o", "to_metrics.jsonl", "--overwrite")
        self.assertEqual((self.folder / "run/metrics.jsonl").read_bytes(), metrics)

    def test_what_leads_to_an_open_file_is_never_replaced(self):
        (self.folder / "out.jsonl").symlink_to("/dev/stdout")
        with open(self.folder / "file", "w") as file:
            done = subprocess.run([command.COMMAND, "predict", "run", "-o", "out.jsonl", "--overwrite"], cwd=self.folder, stdout=file,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("out.jsonl is not a regular file", done.stderr)
        self.assertTrue((self.folder / "out.jsonl").is_symlink())

    def test_a_folder_of_results_may_be_a_link_and_its_records_not(self):
        (self.folder / "disk").mkdir()
        (self.folder / "e").symlink_to("disk")
        self.cachet("eval", "run", "-o", "e")
        (self.folder / "disk/predictions.jsonl").unlink()
        self.link("disk/predictions.jsonl")
        self.assertIn("e/predictions.jsonl: is a symbolic link", self.refusal("eval", "run", "-o", "e", code=1))
        self.assert_untouched()
        self.cachet("eval", "run", "-o", "e", "--overwrite")
        self.assertFalse((self.folder / "disk/predictions.jsonl").is_symlink())
        self.assert_untouched()

    def test_a_link_to_a_folder_stays_one(self):
        (self.folder / "pairs.tsv").write_text("".join(f"a{number} b\tc{number} d\n" for number in range(40)))
        for words in (["clean", "run"], ["export", "run", "--engine", "torch"], ["eval", "run"], ["analyze", "run", "--what", "similarity"],
                      ["data", "pairs", "pairs.tsv", "--columns", "en,de", "--held-out", "5"],
                      ["data", "tokens", str(self.folder), "--tokens", "bytes"]):
            with self.subTest(words[:2]):
                (self.folder / "train.txt").write_text("a b\n")
                (self.folder / "disk").mkdir()
                (self.folder / "link").symlink_to("disk")
                for more in ([], ["--overwrite"]):
                    self.cachet(*words, "-o", "link", *more)
                    self.assertTrue((self.folder / "link").is_symlink())
                    self.assertTrue(list((self.folder / "disk").iterdir()))
                shutil.rmtree(self.folder / "disk")
                for more in ([], ["--overwrite"]):
                    self.assertIn("link is a symbolic link to a folder that does not exist", self.refusal(*words, "-o", "link", *more))
                    self.assertIn("of_somebody is not a folder", self.refusal(*words, "-o", "of_somebody", *more))
                (self.folder / "link").unlink()
                self.assert_untouched()

    def test_a_folder_that_is_missing_is_named_before_the_work(self):
        (self.folder / "train.txt").write_text("a b\n")
        for words, name in ((["predict", "run"], "p.jsonl"), (["compare", "run"], "c.html"), (["average", "run", "--last", "1"], "a.safetensors"),
                            (["clean", "run"], "c.safetensors"), (["export", "run"], "e.safetensors"),
                            (["data", "words", str(self.folder)], "w.txt"),
                            (["data", "subwords", "--train", "train.txt", "--vocabulary", "8"], "s.model")):
            with self.subTest(words[:2]):
                self.assertIn(f"nowhere/{name}: there is no folder nowhere; create that folder, or give another path",
                              self.refusal(*words, "-o", f"nowhere/{name}"))

    def test_tokens_are_not_written_into_a_run(self):
        (self.folder / "train.txt").write_text("a b\n")
        self.assertIn("run is the folder of a run", self.refusal("data", "tokens", str(self.folder), "--tokens", "bytes", "-o", "run"))
        self.cachet("data", "tokens", str(self.folder), "--tokens", "bytes", "-o", "new/tokens")

    def test_a_run_is_not_written_through_a_link(self):
        longer = ["train", "run", "--resume", "--progress", "none", "--set", "train.limit=8 steps"]
        metrics = self.folder / "run/metrics.jsonl"
        held = metrics.read_bytes()
        metrics.unlink()
        self.link("run/metrics.jsonl")
        self.assertIn("run/metrics.jsonl: is a symbolic link", self.refusal(*longer, code=1, lines=4))
        self.assert_untouched()
        metrics.unlink()
        metrics.write_bytes(held)
        (self.folder / "run/log.txt").unlink()
        self.link("run/log.txt")
        done = self.cachet(*longer)
        self.assertIn("the log cannot be written: run/log.txt: is a symbolic link", done.stderr)
        self.assertEqual(self.events("run")[-1]["step"], 8)
        self.assert_untouched()

    def test_the_best_checkpoint_is_one_of_the_run(self):
        self.train("other", *SHORT, "--seed", "1")
        best = self.folder / "run/checkpoints/best"
        best.write_text("../../other/checkpoints/" + (self.folder / "other/checkpoints/best").read_text())
        said = self.refusal("eval", "run", code=1)
        self.assertIn("run/checkpoints/best: must name a checkpoint in this folder", said)

    def test_links_to_folders_work(self):
        (self.folder / "disk").mkdir()
        (self.folder / "runs").symlink_to("disk")
        self.cachet("train", "tiny.toml", "--run", "runs/new", "--progress", "none", *SHORT)
        shutil.move(self.folder / "disk/new/checkpoints", self.folder / "moved")
        (self.folder / "disk/new/checkpoints").symlink_to("../../moved")
        self.cachet("train", "runs/latest", "--resume", "--progress", "none", "--set", "train.limit=8 steps")
        self.assertEqual(self.events("disk/new")[-1]["step"], 8)
        self.cachet("eval", "runs/latest")


class Limits(Outputs):
    def test_a_limit_on_file_sizes_is_reported(self):
        def limit(size):
            return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        for kilobytes in (2, 16):
            run = f"limited{kilobytes}"
            process = self.start("train", "tiny.toml", "--run", run, "--progress", "none", *SHORT, preexec_fn=limit(kilobytes * 1024))
            errors = process.communicate(timeout=100)[1]
            self.assertEqual(process.returncode, 1, errors)
            self.assertIn("File too large", errors)
            if (self.folder / run).exists():
                status = json.loads((self.folder / run / "status.json").read_text())
                self.assertEqual(status["state"], "failed")
                self.assertIn("File too large", status["message"])
                self.cachet("train", run, "--resume", "--progress", "none")
        process = self.start("predict", "run", "-o", "p.jsonl", preexec_fn=limit(1024))
        errors = process.communicate(timeout=100)[1]
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("p.jsonl: cannot write", errors)
        self.assertIn("File too large", errors)
        self.assertIn("; resuming", self.cachet("predict", "run", "-o", "p.jsonl").stderr)

    def test_a_recipe_file_that_is_gone_changes_nothing(self):
        (self.folder / "run/recipe.toml").unlink()
        done = self.cachet("train", "run", "--resume", "--progress", "none", "--set", "train.limit=8 steps")
        self.assertIn("run/recipe.toml is missing", done.stderr)
        status = json.loads((self.folder / "run/status.json").read_text())
        self.assertEqual([status["state"], status["step"]], ["finished", 8])

    def test_a_resume_that_cannot_start_leaves_the_status(self):
        status = (self.folder / "run/status.json").read_bytes()
        labels = self.folder / "images/train-labels-idx1-ubyte"
        labels.write_bytes(labels.read_bytes()[:-4] + bytes([0, 0, 0, 0]))
        self.refusal("train", "run", "--resume", "--progress", "none", "--set", "train.limit=8 steps", code=1, lines=3)
        self.assertEqual((self.folder / "run/status.json").read_bytes(), status)

    def test_an_evaluation_during_training_reads_a_whole_checkpoint(self):
        training = self.start("train", "tiny.toml", "--run", "busy", "--progress", "none", "--set", "train.epochs=1000", "--set",
                              "train.checkpoint_every=1 steps", "--set", "train.evaluate_every=5 steps", "--set", "train.keep=1")
        self.wait_for(self.folder / "busy/checkpoints/last")
        try:
            for _ in range(10):
                self.cachet("eval", "busy")
            self.assertIsNone(training.poll(), "it ended too soon to tell")
        finally:
            training.send_signal(signal.SIGINT)
            training.communicate(timeout=100)


if __name__ == "__main__":
    command.main()
