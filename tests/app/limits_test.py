"""What asks for too much: each command answers or refuses within seconds and a GiB, and names what is too much."""
import gzip
import json
import os
import subprocess
import tempfile
import time

import checkpoints
import command
import runs

SECONDS = 10  # on a machine with nothing else to do; ten times as many are waited for
GIB = 1 << 20  # in KiB, as the system counts


class Limits(command.FolderTest):
    def within_bounds(self, *words, code=0, seconds=SECONDS):
        """(stdout, stderr) of a command that ends with the code and takes at most a GiB and so much processor time."""
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen([command.COMMAND, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=errors, env={**os.environ, "OMP_NUM_THREADS": "1"})
            deadline = time.monotonic() + 10 * seconds
            while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
                if time.monotonic() > deadline:
                    process.kill()
                time.sleep(0.01)
            process.returncode = os.waitstatus_to_exitcode(ended[1])
            output.seek(0)
            errors.seek(0)
            said = output.read(), errors.read()
        self.assertEqual(process.returncode, code, f"{words}\n{said}")
        self.assertLess(ended[2].ru_maxrss, GIB, words)
        self.assertLess(ended[2].ru_utime, seconds, words)
        return said

    def refusal(self, *words, **options):
        output, errors = self.within_bounds(*words, code=1, **options)
        self.assertEqual(output, "")
        self.assertEqual(len(errors.splitlines()), 1, errors)
        return errors

    def test_a_word_that_no_vocabulary_takes(self):
        with gzip.open(self.folder / "train.txt.gz", "wb", compresslevel=1) as file:
            file.write(b"a b\n")
            for _ in range(400):
                file.write(b"x" * 1_000_000)
        errors = self.refusal("data", "words", "train.txt.gz", "-o", "words.txt")
        self.assertIn("train.txt.gz:2: a word is longer than", errors)
        (self.folder / "train.txt").write_text("a b\n" + "x" * 65537 + "\n")
        errors = self.refusal("data", "words", "train.txt", "-o", "words.txt")
        self.assertIn("train.txt: line 2: a word has 65537 bytes; the maximum for a word of a vocabulary is 65536", errors)
        self.assertFalse((self.folder / "words.txt").exists())
        (self.folder / "train.txt").write_text("a b\n" + "x" * 65536 + "\n")
        self.within_bounds("data", "words", "train.txt", "-o", "words.txt")

    def test_a_large_vocabulary_is_counted_without_its_values(self):
        for name in ("transformer_xl_wt103_base", "language/wikitext2_plain"):
            output, _ = self.within_bounds("summary", name, "--set", "model.vocabulary=16777216", "--depth", "0", "--json")
            self.assertGreater(json.loads(output)["parameters"], 1 << 32)

    def test_a_cache_that_fits_no_machine(self):
        runs.write_images(self.folder / "images")
        (self.folder / "tiny.toml").write_text(runs.RECIPE)
        for recipe, words in (("demo_cached", ["--dry-run"]), ("tiny.toml", ["--dry-run"]), ("tiny.toml", ["--run", "run"])):
            errors = self.refusal("train", recipe, *words, "--set", "model.cache.length=1000000")
            self.assertRegex(errors, "model.cache.length: must be at most 131072 in a new run, got 1000000. With this length, the caches of a step take about .*B")
        self.assertFalse((self.folder / "run").exists())
        self.within_bounds("summary", "demo_cached", "--set", "model.cache.length=1000000")

    def test_a_model_that_fits_no_machine(self):
        runs.write_images(self.folder / "images")
        (self.folder / "tiny.toml").write_text(runs.RECIPE)
        for words in (["--dry-run"], ["--run", "run"]):
            errors = self.refusal("train", "tiny.toml", *words, "--set", "model.embed_dim=30000", "--set", "model.depth=20")
            self.assertRegex(errors, "the weights of the model and their gradients take .*, but this machine has only .* of free memory")
        self.assertFalse((self.folder / "run").exists())

    def test_all_models_are_counted_at_once(self):
        output, _ = self.within_bounds("models")
        self.assertIn("mask_rcnn", output)

    def test_expressions_of_which_none_has_such_a_length(self):
        for words in ((), ("--shorter-than", "100000", "--longer-than", "99000")):
            errors = self.refusal("data", "listops", "-o", "expressions", "--depth", "1000", "--threads", "1", "--progress",
                                  "none", *words)
            self.assertIn("draws gave no new expression with a length within the bounds", errors)
        self.assertFalse((self.folder / "expressions").exists())

    def test_long_expressions_are_not_kept_by_thousands(self):
        self.within_bounds("data", "listops", "-o", "expressions", "--depth", "3", "--arguments", "1000", "--longer-than",
                           "10000", "--shorter-than", "1000000", "--train", "20", "--validation", "2", "--test", "2")

    def test_a_word_that_bpe_does_not_take(self):
        (self.folder / "text.txt").write_text("a" * 65536 + "\n")
        words = ("data", "subwords", "--train", "text.txt", "-o", "text.model", "--vocabulary", "4")
        errors = self.refusal(*words)
        self.assertIn("a word has more than 65535 characters, the maximum of BPE", errors)
        self.within_bounds(*words, "--type", "unigram")

    def test_threads_of_a_checkpoint(self):
        runs.write_images(self.folder / "images")
        (self.folder / "tiny.toml").write_text(runs.RECIPE)
        words = ("--progress", "none", "--set", "schedule.kind=constant")
        self.cachet("train", "tiny.toml", "--run", "run", *words, "--set", "train.limit=4 steps")
        for checkpoint in (self.folder / "run/checkpoints").glob("step-*"):
            state = json.loads((checkpoint / "state.json").read_text())
            state["threads"] = 100_000
            checkpoints.write(checkpoint, "state.json", (json.dumps(state, indent=2) + "\n").encode())
        said = self.refused("train", "run", "--resume", *words, "--set", "train.limit=6 steps", cwd=self.folder, code=1, lines=4)
        self.assertIn("state.json: damaged: 'threads' is 100000, not a whole number from 0 to", said)


if __name__ == "__main__":
    command.main()
