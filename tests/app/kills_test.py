"""Training that is killed (kill -9) at random moments and resumed by the same command, and work that is done in two ways: the bits
are the same. 133 kills and 101 comparisons where CACHET_ROBUSTNESS is "full", 12 and 10 otherwise; both are drawn by a seed."""
import dataclasses
import json
import os
import random
import signal
import subprocess
import time

import command
import detection_test
import runs
import text_models_test
import translate_test
from language_test import text

FULL = os.environ.get("CACHET_ROBUSTNESS") == "full"
KILLS, COMPARISONS = (133, 101) if FULL else (12, 10)
KILLS_OF_A_RUN = 6 if FULL else 2
SEED = 20261128


@dataclasses.dataclass(frozen=True)
class Family:
    """A recipe of seconds. Its checkpoints are some steps apart, so that a kill costs steps."""
    name: str
    recipe: str
    settings: tuple

    def words(self, run, *settings):
        """`cachet WORDS` begins the run, or resumes it."""
        return ["train", self.recipe, "--run", run, "--resume", "--progress", "none",
                *(word for setting in (*self.settings, *settings) for word in ("--set", setting))]


SAVING = ("train.keep=3", "train.log_every=1 steps", "train.checkpoint_every=3 steps", "schedule.kind=constant")
FAMILIES = (
    Family("images", "images.toml", (*SAVING, "train.limit=36 steps", "train.evaluate_every=7 steps", "train.ema_decay=0.9",
                                     "train.ema_renew_states=3", "train.accumulate=2", "data.workers=2", "train.epochs=40")),
    Family("language", "language.toml", (*SAVING, "train.limit=20 steps", "train.evaluate_every=7 steps", "model.dropout=0.1")),
    Family("language_cached", "language.toml", (*SAVING, "train.limit=20 steps", "train.evaluate_every=7 steps",
                                                "model.memory_length=0", "model.cache.kind=grc", "model.norm.kind=un")),
    Family("translation", "translation.toml", (*SAVING, "train.limit=20 steps", "train.evaluate_every=7 steps", "model.dropout=0.1",
                                               "model.cache.kind=grc", "data.max_tokens=60", "train.accumulate=3")),
    Family("sequences", "lra_text", (*SAVING, *runs.SMALL_ENCODER[1::2], "train.limit=20 steps", "train.evaluate_every=7 steps",
                                     "train.epochs=40")),
    Family("detection", "detection.toml", (*SAVING[:3], "train.limit=9 steps", "train.evaluate_every=4 steps")),
)


def make_data(folder):
    """The data and recipes of all families."""
    runs.write_images(folder / "images")
    (folder / "images.toml").write_text(runs.RECIPE)
    (folder / "corpus").mkdir()
    for name, lines, first in (("train", 400, 0), ("valid", 200, 5), ("test", 21, 9)):
        (folder / f"corpus/{name}.txt").write_text(text(lines, first))
    (folder / "language.toml").write_text(text_models_test.LANGUAGE)
    translate_test.write_pairs(folder / "pairs", range(400), range(400, 500), range(500, 520))
    (folder / "translation.toml").write_text(translate_test.RECIPE)
    runs.write_reviews(folder / "aclImdb")
    (folder / "detection.toml").write_text(detection_test.RECIPE)


class Bits(command.FolderTest):
    def setUp(self):
        super().setUp()
        make_data(self.folder)
        self.cachet("data", "words", "corpus", "-o", "corpus/words.txt")
        self.cachet("data", "shapes", "-o", "shapes", "--train", "24", "--validation", "12", "--height", "64", "--width", "64")
        self.chance = random.Random(SEED)

    def events(self, run):
        """All that a run measured, without what is of the machine."""
        lines = (self.folder / run / "metrics.jsonl").read_text().splitlines()
        return [{key: value for key, value in json.loads(line).items() if key != "machine"} for line in lines]

    def checkpoints(self, run):
        """The bytes of all tensors, and the names of the best and the last checkpoint."""
        folder = self.folder / run / "checkpoints"
        files = [*folder.rglob("*.safetensors"), folder / "best", folder / "last"]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    def assert_same_runs(self, whole, other, what, may_have_more=False):
        """`may_have_more`: a run that was asked to stop has a checkpoint of that step too."""
        self.assertEqual(self.events(whole), self.events(other), what)
        wanted, found = self.checkpoints(whole), self.checkpoints(other)
        self.assertTrue(wanted.keys() <= found.keys() if may_have_more else wanted.keys() == found.keys(),
                        f"{what}: {sorted(wanted)}, {sorted(found)}")
        for name, content in wanted.items():
            self.assertTrue(content == found[name], f"{what}: {name} has other bits")

    def start(self, words):
        return subprocess.Popen([command.COMMAND, *words], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


class Kills(Bits):
    def test_the_same_command_resumes_bit_for_bit(self):
        seconds = {}
        for family in FAMILIES:
            start = time.monotonic()
            self.cachet(*family.words(f"whole-{family.name}"))
            seconds[family] = time.monotonic() - start
        kills = trained = 0
        counts = {family.name: 0 for family in FAMILIES}
        while kills < KILLS:
            family = FAMILIES[trained % len(FAMILIES)]
            run = f"killed{trained}"
            trained += 1
            self.assertLess(trained, 20 * KILLS, "the runs end before they can be killed")
            left = KILLS_OF_A_RUN
            while True:
                process = self.start(family.words(run))
                if left > 0 and kills < KILLS:
                    time.sleep(self.chance.uniform(0.1, 0.9) * seconds[family])
                    process.kill()
                errors = process.communicate(timeout=300)[1]
                self.assertIn(process.returncode, (0, -signal.SIGKILL), errors)
                if process.returncode == 0:
                    break
                left -= 1
                kills += 1
                counts[family.name] += 1
            self.assert_same_runs(f"whole-{family.name}", run, f"{run} of {family.name} after {kills} kills")
        print(f"{kills} kills in {trained} runs: {counts}", flush=True)


# Each draw takes one value of each of some keys.
DRAWN = {
    "model.attention.kind": ["softmax", "elu", "kernel", "performer", "local"],
    "model.cache.kind": ["none", "grc", "fifo", "concatenated"],
    "model.norm.kind": ["layer", "rms", "batch", "un", "mabn", "pn"],
    "train.accumulate": ["1", "2", "3"],
    "train.ema_decay": ["0", "0.9"],
    "train.clip_norm": ["0", "0.5"],
    "train.precision": ["fp32", "bf16"],
    "train.batch_size": ["5", "8"],
    "train.seed": ["1", "2", "3"],
    "optimizer.kind": ["adamw", "sgd"],
    "schedule.kind": ["constant", "cosine", "linear"],
    "data.workers": ["0", "1", "3"],
    "train.tensorboard": ["true", "false"],
}
STEPS = 14


class Comparisons(Bits):
    """Each draws a recipe of images and one of the ways to do the same work twice."""

    def drawn_settings(self):
        settings = ["train.epochs=40", f"train.limit={STEPS} steps", "train.log_every=1 steps", "train.checkpoint_every=3 steps",
                    "train.evaluate_every=5 steps", "train.keep=99"]
        for key, values in DRAWN.items():
            if self.chance.random() < 0.6:
                settings.append(f"{key}={self.chance.choice(values)}")
        if "model.cache.kind=concatenated" in settings:  # whose keys are in a softmax
            settings.append("model.attention.kind=softmax")
        if any(setting in settings for setting in ("model.norm.kind=un", "model.norm.kind=mabn", "model.norm.kind=pn")):
            settings.append("model.norm.warmup=4")
        else:  # the recipe's own norm has a warm-up
            settings += [] if any(setting.startswith("model.norm.kind") for setting in settings) else ["model.norm.warmup=3"]
        return settings

    def train(self, run, settings):
        self.cachet(*Family("drawn", "images.toml", tuple(settings)).words(run))

    def step_by_signal(self, run, settings):
        """Stopped by a signal at some step, perhaps twice, then resumed."""
        log = self.folder / run / "metrics.jsonl"
        for step in sorted(self.chance.sample(range(1, STEPS), self.chance.randint(1, 2))):
            process, deadline = self.start(Family("drawn", "images.toml", tuple(settings)).words(run)), time.monotonic() + 100
            while process.poll() is None and not (log.exists() and f'"step":{step},' in log.read_text()):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.002)
            if process.poll() is None:
                process.send_signal(self.chance.choice([signal.SIGINT, signal.SIGTERM]))
            errors = process.communicate(timeout=100)[1]
            # Before it listens to signals, a process ends by them as any other.
            self.assertIn(process.returncode, (0, 130, 143, -signal.SIGINT, -signal.SIGTERM), errors)
        self.train(run, settings)

    def in_parts(self, run, settings):
        """Ended by a limit and lengthened. At its end a run is evaluated, so the end is where the whole one is too."""
        self.train(run, [*settings, f"train.limit={self.chance.choice([5, 10])} steps"])
        self.train(run, settings)

    def with_other_workers(self, run, settings):
        self.train(run, [*settings, f"data.workers={self.chance.randint(0, 4)}"])

    def as_a_seed(self, run, settings):
        """As one of a folder of seeds."""
        seed = next((setting.split("=")[1] for setting in reversed(settings) if setting.startswith("train.seed=")), "0")
        self.cachet(*Family("drawn", "images.toml", tuple(settings)).words(f"{run}-seeds"), "--seeds", f"{seed},7")
        (self.folder / f"{run}-seeds/seed-{seed}").rename(self.folder / run)

    def compare_trainings(self, way, settings, number):
        if way == self.in_parts and not any(setting == "schedule.kind=constant" for setting in settings):
            settings = [*settings, "schedule.kind=constant"]  # others are laid out for the limit
        self.train(f"whole{number}", settings)
        way(f"other{number}", settings)
        self.assert_same_runs(f"whole{number}", f"other{number}", f"{way.__name__} of {settings}", may_have_more=True)

    def compare_results(self, settings, number):
        """An evaluation and predictions, cut anywhere and resumed, and the evaluation of the training itself."""
        run = f"whole{number}"
        self.train(run, settings)
        for words, kept in ((["eval", run, "-o", f"e{number}"], self.folder / f"e{number}/predictions.jsonl"),
                            (["predict", run, "-o", f"p{number}.jsonl"], self.folder / f"p{number}.jsonl")):
            printed, whole = self.cachet(*words).stdout, kept.read_bytes()
            kept.write_bytes(whole[:self.chance.randrange(len(whole))])
            self.assertEqual(self.cachet(*words).stdout, printed, settings)
            self.assertTrue(kept.read_bytes() == whole, f"{words[0]} of {settings}")
        last = self.folder / run / "checkpoints" / (self.folder / run / "checkpoints/last").read_text().strip()
        measured = self.json_of("eval", str(last), "--json", cwd=self.folder)["metrics"]
        trained = [event for event in self.events(run) if event["kind"] == "evaluation"][-1]
        self.assertEqual(measured, trained["metrics"], settings)

    def test_work_that_is_done_in_two_ways_is_the_same(self):
        ways = [self.step_by_signal, self.in_parts, self.with_other_workers, self.as_a_seed, None]
        for number in range(COMPARISONS):
            way, settings = ways[number % len(ways)], self.drawn_settings()
            with self.subTest(number=number, settings=settings):
                if way is None:
                    self.compare_results(settings, number)
                else:
                    self.compare_trainings(way, settings, number)


if __name__ == "__main__":
    command.main()
