"""Parts of a step with states of their own: micro-batches of one process are processes, bit by bit, with all that is drawn."""
import json
import re
import shutil

import checkpoints
import command
import translate_test
from language_test import SMALL as SMALL_LANGUAGE, write_corpus
from runs import RunTest, detector_recipe, shapes_command

PLAIN = ["--progress", "none"]
DRAWS = ["model.dropout=0.2", "model.stochastic_depth=0.2"]
PVT = ["model.name=pvt_tiny", "model.embed_dims=[8, 16, 16, 32]", "model.depths=[1, 1, 1, 1]", "model.num_heads=[1, 2, 2, 4]",
       "model.mlp_ratios=[1, 1, 1, 1]"]
LARGER = ["model.image_size=32", "data.resize.image_size=32"]
VIT = ["model.patch_size=4", "model.embed_dim=16", "model.depth=2", "model.num_heads=2"]
FILES = ("model", "optimizer", "random", "part_states", "stream")


def table(name, head=""):
    return f"""{head}[data]
root = "images"
kind = "idx"
classes = 4
[model]
name = "{name}"
[train]
epochs = 2
threads = 1
seed = 3
log_every = "1 steps"
[schedule]
kind = "constant"
"""


DETECTOR = detector_recipe("retinanet_pvt_tiny_fpn", 64, """[model.bbox_head]
feat_channels = 8
stacked_convs = 1
[model.cache]
kind = "grc"
[model.norm]
kind = "un"
warmup = 2
[train]
epochs = 3
threads = 1
log_every = "1 steps"
[optimizer]
lr = 0.002
[schedule]
kind = "constant"
""")
TRANSLATION = translate_test.RECIPE.replace('kind = "inverse_sqrt"\nwarmup = "20 steps"', 'kind = "constant"')


def settings(*pairs):
    return [word for pair in pairs for word in ("--set", pair)]


class Parts(RunTest):
    def files(self, run):
        checkpoints = self.folder / run / "checkpoints"
        last = checkpoints / (checkpoints / "last").read_text().strip()
        return {name: (last / f"{name}.safetensors").read_bytes() for name in FILES if (last / f"{name}.safetensors").exists()}

    def logged(self, run):
        return [(event["step"], event["metrics"], event.get("series")) for event in self.events(run) if event["kind"] == "step"]

    def evaluated(self, run):
        event = [event for event in self.events(run) if event["kind"] == "evaluation"][-1]
        return event["step"], event["metrics"], event.get("series")

    def expect_same(self, one, other):
        for name, data in self.files(one).items():
            self.assertEqual(data, self.files(other)[name], f"{name} of {one} and {other}")
        self.assertEqual(self.logged(one), self.logged(other), f"{one} and {other}")
        self.assertEqual(self.evaluated(one), self.evaluated(other), f"{one} and {other}")

    def passes(self, run):
        """How many training passes the norms of part 0 and of part 1 have had."""
        checkpoint = self.folder / run / "checkpoints"
        checkpoint = checkpoint / (checkpoint / "last").read_text().strip()
        first = checkpoints.counters(checkpoint)
        second = checkpoints.counters(checkpoint, "part_states.safetensors")
        names = [name for name in first if f"part.1/{name}" in second]
        self.assertTrue(names, sorted(second))
        counts = {(first[name], second[f"part.1/{name}"]) for name in names}
        self.assertEqual(len(counts), 1, counts)
        return counts.pop()

    def expect_processes(self, recipe, name, size, *more, steps=7, state="separate", keys={"train.batch_size": 1}):
        """Two micro-batches of `size` in one process, as two processes with a batch of twice the size; the same after a resume
        in the other spread in the middle. `keys`: what has this size, or so many times this size."""
        whole = settings(f"train.state={state}", *more)
        one = settings("train.accumulate=2", *(f"{key}={size * times}" for key, times in keys.items()))
        two = ["--processes", "2", *settings("train.accumulate=1", *(f"{key}={2 * size * times}" for key, times in keys.items()))]
        limit = lambda count: settings(f"train.limit={count} steps")
        self.cachet("train", recipe, "--run", f"{name}-one", *PLAIN, *whole, *one, *limit(steps))
        self.cachet("train", recipe, "--run", f"{name}-two", *PLAIN, *whole, *two, *limit(steps))
        self.expect_same(f"{name}-one", f"{name}-two")
        self.cachet("train", recipe, "--run", f"{name}-cut", *PLAIN, *whole, *two, *limit(steps // 2))
        done = self.cachet("train", f"{name}-cut", "--resume", *PLAIN, *one, *limit(steps))
        self.assertIn("the 2 parts of a step were computed by 2 processes, and now by 1 process", done.stderr)
        self.expect_same(f"{name}-one", f"{name}-cut")
        return f"{name}-one"

    def test_of_a_vit_with_un_and_grc(self):
        (self.folder / "vit.toml").write_text(table("vit_tiny_patch16_224"))
        plug_ins = ["model.image_size=8", *VIT, *DRAWS, "model.norm.kind=un", "model.norm.warmup=3", "model.cache.kind=grc",
                    "train.ema_decay=0.9", "train.ema_renew_states=2", "data.mixing.mixup=0.2"]
        for state in ("separate", "first"):
            run = self.expect_processes("vit.toml", state, 8, *plug_ins, state=state)
            self.assertEqual("part_states" in self.files(run), state == "separate")

    def test_of_a_pvt_with_fifo(self):
        (self.folder / "pvt.toml").write_text(table("pvt_tiny"))
        self.expect_processes("pvt.toml", "pvt", 4, *LARGER, *PVT[1:], *DRAWS, "model.cache.kind=fifo", steps=4)

    def test_of_a_concatenated_cache(self):
        """In each part, the first pass is the plain layer's."""
        (self.folder / "vit.toml").write_text(table("vit_tiny_patch16_224"))
        for state in ("separate", "first"):
            run = self.expect_processes("vit.toml", f"vit-{state}", 8, "model.image_size=8", *VIT, *DRAWS, "model.norm.kind=un",
                                        "model.norm.warmup=3", "model.cache.kind=concatenated", "train.ema_decay=0.9",
                                        "train.ema_renew_states=2", state=state)
            self.assertEqual("part_states" in self.files(run), state == "separate")
        (self.folder / "pvt.toml").write_text(table("pvt_tiny"))
        self.expect_processes("pvt.toml", "pvt", 4, *LARGER, *PVT[1:], *DRAWS, "model.cache.kind=concatenated", steps=4)

    def test_of_a_t2t_vit_with_each_norm(self):
        (self.folder / "t2t.toml").write_text(table("t2t_vit_14"))
        small = [*LARGER, "model.embed_dim=16", "model.depth=1", "model.num_heads=2", *DRAWS]
        for norm in ("batch", "mabn", "pn"):
            self.expect_processes("t2t.toml", norm, 4, *small, f"model.norm={{kind=\"{norm}\"}}", steps=4)

    def test_of_a_detector(self):
        self.cachet(*shapes_command(20, 4, 64))
        (self.folder / "detector.toml").write_text(DETECTOR)
        self.expect_processes("detector.toml", "detector", 2, "model.stochastic_depth=0.2", steps=7)

    def test_a_part_without_samples_keeps_its_state(self):
        """Of scenes that are wide there is one, and a step is of wide or of upright scenes."""
        self.cachet(*shapes_command(6, 2, 64))
        self.cachet("data", "shapes", "-o", "wide", "--train", "1", "--validation", "1", "--height", "32", "--width", "64")
        file = self.folder / "shapes/annotations/instances_train.json"
        scenes, wide = json.loads(file.read_text()), json.loads((self.folder / "wide/annotations/instances_train.json").read_text())
        shutil.copy(self.folder / "wide/images/train/000001.png", self.folder / "shapes/images/train/wide.png")
        scenes["images"].append({**wide["images"][0], "id": 1000, "file_name": "wide.png"})
        scenes["annotations"] += [{**one, "id": 1000 + one["id"], "image_id": 1000} for one in wide["annotations"]]
        file.write_text(json.dumps(scenes))
        (self.folder / "detector.toml").write_text(DETECTOR)
        for state in ("separate", "first"):  # 7 scenes: three steps of 2 and one of 1
            run = self.expect_processes("detector.toml", state, 1, "model.stochastic_depth=0.2", "train.epochs=2", state=state, steps=8)
            if state == "separate":
                self.assertEqual(self.passes(run), (8, 6), "two steps had no scene for part 1")

    def test_a_part_without_sentences_keeps_its_state(self):
        translate_test.write_pairs(self.folder / "pairs", range(9), range(150, 156), range(160, 165))
        (self.folder / "translation.toml").write_text(TRANSLATION)
        for state in ("separate", "first"):  # 9 sentences: two steps of 4 and one of 1
            run = self.expect_processes("translation.toml", state, 2, "model.dropout=0.1", "model.norm.kind=un", "model.norm.warmup=3",
                                        "train.log_every=1 steps", state=state, steps=6,
                                        keys={"data.max_samples": 1, "data.max_tokens": 50})
            if state == "separate":
                self.assertEqual(self.passes(run), (6, 4), "two steps had no sentence for part 1")

    def test_of_translation(self):
        translate_test.write_pairs(self.folder / "pairs", valid=range(150, 160), test=range(160, 165))
        (self.folder / "translation.toml").write_text(TRANSLATION)
        self.expect_processes("translation.toml", "translation", 40, "model.dropout=0.1", "model.norm.kind=un", "model.norm.warmup=3",
                              "train.log_every=1 steps", steps=9, keys={"data.max_tokens": 1})

    def test_of_a_language_model(self):
        write_corpus(self.folder / "wikitext-2")
        self.cachet("data", "words", "wikitext-2", "-o", "words.txt", "--vocabulary", "24")
        small = [word for word in SMALL_LANGUAGE if word != "--set" and not word.startswith(("train.batch_size", "schedule.", "data.voc"))]
        for recipe in ("wikitext2_transformer_xl", "wikitext2_grc"):
            self.expect_processes(recipe, recipe, 2, *small, "data.vocabulary=23", "schedule.kind=constant", "schedule.warmup=0 steps",
                                  "model.dropout=0.1", "train.log_every=1 steps", steps=9)

    def test_the_log_has_the_normality_of_part_0(self):
        """A pass for each step: the other part's, and those that renew the states of the average, do not count."""
        (self.folder / "vit.toml").write_text(table("vit_tiny_patch16_224"))
        words = ["train", "vit.toml", *PLAIN, *settings("model.image_size=8", *VIT, *DRAWS, "model.norm.kind=un", "model.norm.warmup=3",
                 "train.normality_passes=8", "train.ema_decay=0.9", "train.ema_renew_states=2", "train.limit=11 steps")]
        for state in ("separate", "first"):
            own = settings(f"train.state={state}")
            self.cachet(*words, "--run", f"{state}-one", *own, *settings("train.accumulate=2", "train.batch_size=8"))
            self.cachet(*words, "--run", f"{state}-two", *own, "--processes", "2", *settings("train.batch_size=16"))
            self.expect_same(f"{state}-one", f"{state}-two")
            tested = [step for step, _, series in self.logged(f"{state}-one") if any(name.startswith("pnac/") for name in series)]
            self.assertEqual(tested, [8, 9, 10, 11], state)

    def test_another_number_is_refused_and_changes_nothing(self):
        same = settings("train.state=separate", "train.accumulate=4", "train.batch_size=8")
        self.train("run", *same, *settings("train.limit=2 steps"))
        before = (self.folder / "run/run.json").read_bytes()
        for words in (["--processes", "2"], settings("train.accumulate=2", "train.batch_size=16")):
            refusal = self.refused("train", "run", "--resume", *PLAIN, *words, code=1, cwd=self.folder)
            self.assertIn("4 parts in a step (1 process x train.accumulate 4)", refusal)
            self.assertEqual((self.folder / "run/run.json").read_bytes(), before)
        self.assertIn("--set train.accumulate=2", self.refused("train", "run", "--resume", *PLAIN, "--processes", "2", code=1,
                                                                cwd=self.folder))
        refusal = self.refused("train", "run", "--resume", *PLAIN, *settings("train.batch_size=16"), code=1, lines=4, cwd=self.folder)
        self.assertIn("train.batch_size: 8 -> 16", refusal)
        refusal = self.refused("train", "run", "--resume", *PLAIN, *settings("train.state=first"), code=1, lines=4, cwd=self.folder)
        self.assertIn('train.state: "separate" -> "first"', refusal)

    def test_are_said(self):
        cut = settings("train.state=separate", "train.accumulate=4", "train.batch_size=8")
        dry = self.cachet("train", "tiny.toml", "--dry-run", *cut).stdout
        four = re.search(r"parts +4 states of 8 images; ([0-9.]+) KiB for copies of the model's state\n", dry)
        self.assertRegex(dry, r"note +the run has 4 states of 8 images, but the recipe has one state for all")
        (self.folder / "cut.toml").write_text((self.folder / "tiny.toml").read_text().replace(
            "[train]", '[train]\nstate = "first"\naccumulate = 2'))
        dry = self.cachet("train", "cut.toml", "--dry-run").stdout
        two = re.search(r"parts +2 parts of 8 images; ([0-9.]+) KiB for copies of the model's state\n", dry)
        self.assertAlmostEqual(float(two[1]), float(four[1]) / 2, delta=0.1, msg="part 0's, and what all parts begin with")
        self.assertNotIn("the recipe has", dry)
        eight = settings("train.accumulate=8", "train.batch_size=2")
        self.assertIn(two[0].replace("2 parts of 8", "8 parts of 2"), self.cachet("train", "cut.toml", "--dry-run", *eight).stdout)
        dry = self.cachet("train", "cut.toml", "--dry-run", *settings("train.accumulate=1")).stdout
        self.assertRegex(dry, r"parts +1 part of 8 images; no copies of the model's state\n")
        done = self.cachet("train", "cut.toml", "--run", "two", "--processes", "2", *PLAIN, *settings("train.limit=1 steps"))
        self.assertIn("the run has 4 parts of 4 images, but the recipe has 2 of 8", done.stderr)
        self.assertIn("Parts of a step", (self.folder / "two/report.html").read_text())

    def test_too_large_a_step_is_refused(self):
        refusal = self.refused("train", "tiny.toml", "--run", "run", *settings("train.state=separate", "train.accumulate=100"), code=1,
                               cwd=self.folder)
        self.assertIn("train.batch_size 8 x train.accumulate 100 is more than the 96 training images", refusal)
        refusal = self.refused("train", "tiny.toml", "--run", "run", *settings("train.state=each"), cwd=self.folder)
        self.assertIn("separate", refusal)
        self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    command.main()
