"""Language and translation runs that are killed at any moment (kill -9) and continue: the same bits as a run that was not."""
import json
import subprocess
import time

import command
from language_test import text
from text_models_test import LANGUAGE
from translate_test import RECIPE, write_pairs

STEPS = 20
SETTINGS = ["train.accumulate=3", "train.log_every=1 steps", "train.checkpoint_every=3 steps", "train.keep=3",
            f"train.limit={STEPS} steps", "train.evaluate_every=7 steps"]


class TextKills(command.FolderTest):
    def words(self, recipe, run, settings):
        return ["train", recipe, "--run", run, "--resume", "--progress", "none",
                *(word for setting in [*SETTINGS, *settings] for word in ("--set", setting))]

    def events(self, run):
        file = self.folder / run / "metrics.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def killed_when(self, recipe, run, settings, moment):
        """Trains until the events are there, or to the end; returns the last event's kind and step."""
        process = subprocess.Popen([command.COMMAND, *self.words(recipe, run, settings)], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while process.poll() is None and not moment(self.events(run)):
            self.assertLess(time.monotonic(), deadline, "the run does not get there")
            time.sleep(0.002)
        process.kill()
        errors = process.communicate()[1]
        self.assertIn(process.returncode, (0, -9), errors)
        last = self.events(run)[-1]
        return process.returncode, last["kind"], last["step"]

    def same_as_whole(self, recipe, settings=()):
        done = command.run(*self.words(recipe, "whole", settings), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        reached = lambda kind, step: lambda events: any(each["kind"] == kind and each["step"] >= step for each in events)
        # After a checkpoint and before one, where a step's micro-batches are under way, and while the evaluation that
        # a step calls for is.
        moments = [reached("step", 1), reached("step", 4), reached("step", 7), reached("step", 11), reached("step", 14),
                   reached("evaluation", 14), reached("step", 18)]
        ends = [self.killed_when(recipe, "killed", settings, moment) for moment in moments]
        self.assertGreaterEqual(sum(code == -9 for code, _, _ in ends), 4, ends)
        self.assertTrue(any(code == -9 and kind == "step" and step in (7, 14) for code, kind, step in ends),
                        f"none was killed during an evaluation: {ends}")
        done = command.run(*self.words(recipe, "killed", settings), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        strip = lambda events: [{key: event[key] for key in ("kind", "step", "epoch", "metrics", "series")} for event in events]
        self.assertEqual(strip(self.events("killed")), strip(self.events("whole")))
        checkpoints = lambda run: {path.relative_to(self.folder / run).as_posix(): path.read_bytes()
                                   for path in (self.folder / run / "checkpoints").rglob("*.safetensors")}
        killed, whole = checkpoints("killed"), checkpoints("whole")
        self.assertEqual(killed.keys(), whole.keys())
        self.assertIn(f"checkpoints/step-{STEPS:08}/model.safetensors", whole)
        for name in whole:
            self.assertEqual(killed[name], whole[name], name)

    def make_corpus(self):
        (self.folder / "corpus").mkdir()
        for name, lines, first in (("train", 600, 0), ("valid", 1500, 5), ("test", 20, 9)):
            (self.folder / f"corpus/{name}.txt").write_text(text(lines, first))
        self.succeed("data", "words", "corpus", "-o", "corpus/words.txt", cwd=self.folder)
        (self.folder / "language.toml").write_text(LANGUAGE)

    def test_language_models(self):
        self.make_corpus()
        for number, memory in enumerate((["model.dropout=0.1"], ["model.memory_length=0", "model.cache.kind=grc", "model.norm.kind=un"])):
            with self.subTest(memory):
                self.same_as_whole("language.toml", memory)
                for run in ("whole", "killed"):
                    (self.folder / run).rename(self.folder / f"{run}-{number}")

    def test_translation(self):
        write_pairs(self.folder / "pairs", range(400), range(400, 640))
        (self.folder / "translation.toml").write_text(RECIPE)
        self.same_as_whole("translation.toml", ["model.cache.kind=grc", "model.norm.kind=un", "model.dropout=0.1", "data.max_tokens=60",
                                                "task.evaluation.beam=8"])


if __name__ == "__main__":
    command.main()
