"""Saved results and changed data: for each task and each command that saves something, one byte of an input file is changed.
Then the command prints the numbers of a fresh call, bit for bit, or refuses; a training resumes or refuses by the rules of
docs/training.md. What version 0.1.0 saved is read, and computed again if it does not record its inputs."""
import gzip
import json
import os
import pathlib
import random
import shutil
import struct
import tempfile
import tomllib
import zlib

import command
import runs
from language_test import SMALL as SMALL_LANGUAGE
from language_test import text as rule_text
from runs import SMALL_ENCODER, pixels, write_images, write_png, write_reviews
from translate_test import RECIPE as TRANSLATION, pair, write_pairs

FULL = os.environ.get("CACHET_ROBUSTNESS") == "full"
BYTES_OF_A_FILE = 40 if FULL else 1
MOST_FILES = 1000 if FULL else 3
OLD = command.ROOT / "tests/data/saved_by_0_1_0/idx"

DETECTOR = runs.detector_recipe("retinanet_pvt_tiny_fpn", 32, """start_level = 0
num_outs = 5
[model.bbox_head]
feat_channels = 8
stacked_convs = 1
[model.bbox_head.anchors]
strides = [4, 8, 16, 32, 64]
[train]
epochs = 1
batch_size = 2
threads = 1
""")
FOLDERS = """
[data]
root = "folders"
kind = "class_folders"
classes = 3
[data.resize]
image_size = 8
[model]
name = "vit_tiny_patch16_224"
patch_size = 4
embed_dim = 16
depth = 1
num_heads = 2
[train]
epochs = 1
batch_size = 4
threads = 1
"""


def write_stored_png(path, rows, side=8):
    """Grey rows as a PNG whose size does not depend on them."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + rows[y * side:(y + 1) * side] for y in range(side))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", side, side, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(lines, 0)) + chunk(b"IEND", b""))


def write_class_folders(root):
    for split, count in (("train", 6), ("val", 3)):
        for label, name in enumerate(("blue", "green", "red")):
            folder = root / split / name
            folder.mkdir(parents=True)
            for number in range(count):
                write_stored_png(folder / f"{number}.png", pixels(4 * number + label))


class SavedResults(command.FolderTest):
    """One run of a task, and what its commands save."""

    def numbers(self, output):
        """What a command saved, without the record of its origin."""
        path = self.folder / output
        if path.suffix != ".jsonl" and (path / "predictions.jsonl").exists():
            path = path / "predictions.jsonl"
        if path.is_dir():
            values = json.loads((path / "analysis.json").read_text())
            return [values["analyses"], values["left_out"]]
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        return [{key: value for key, value in line.items() if key not in ("source", "sample_digest")} for line in lines]

    def restored(self, kept, copy):
        for path in (self.folder / copy, ):
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)
        if (self.folder / kept).is_dir():
            shutil.copytree(self.folder / kept, self.folder / copy)
        elif (self.folder / kept).exists():
            shutil.copy2(self.folder / kept, self.folder / copy)

    def answers_as_a_fresh_call(self, words, kept, suffix, where):
        """Calls the command on a copy of what it saved, and anew."""
        for name in ("saved" + suffix, "fresh" + suffix):
            self.restored("nothing", name)
        self.restored(kept, "saved" + suffix)
        saved = command.run(*words, "-o", "saved" + suffix, cwd=self.folder)
        if saved.returncode != 0:
            self.assertIn(saved.returncode, (1, 2), (where, saved.stderr))
            said = [line for line in saved.stderr.strip().splitlines() if not line.startswith(("note", "answering"))]
            self.assertLessEqual(len(said), 3, (where, saved.stderr))
            return "refused"
        fresh = command.run(*words, "-o", "fresh" + suffix, cwd=self.folder)
        self.assertEqual(fresh.returncode, 0, (where, fresh.stderr))
        self.assertEqual(saved.stdout.replace("saved", "fresh"), fresh.stdout, where)
        self.assertEqual(self.numbers("saved" + suffix), self.numbers("fresh" + suffix), where)
        return "the same numbers"

    def hold(self, commands, files, seed=1, refuses=True):
        """Each command, each file: one byte at a time. `commands`: its words, and how what it saves is called. `refuses`:
        whether one of these bytes at least makes a command refuse; an analysis is made anew instead."""
        draw = random.Random(seed)
        kept = {}
        for number, (words, suffix) in enumerate(commands):
            kept[number] = f"kept{number}{suffix}"
            self.restored("nothing", kept[number])
            self.cachet(*words, "-o", kept[number])
            self.assertEqual(self.answers_as_a_fresh_call(words, kept[number], suffix, words), "the same numbers")
        found = set()
        for file in files:
            path = self.folder / file
            held, times = path.read_bytes(), path.stat()
            for _ in range(BYTES_OF_A_FILE):
                place = draw.randrange(len(held))
                path.write_bytes(held[:place] + bytes([held[place] ^ 1 << draw.randrange(8)]) + held[place + 1:])
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # the change is hidden
                for number, (words, suffix) in enumerate(commands):
                    found.add(self.answers_as_a_fresh_call(words, kept[number], suffix, (words, file, place)))
            path.write_bytes(held)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        for number, (words, suffix) in enumerate(commands):
            self.assertEqual(self.answers_as_a_fresh_call(words, kept[number], suffix, words), "the same numbers")
        if refuses:
            self.assertIn("refused", found)

    def some(self, pattern, seed=1):
        files = sorted(str(path.relative_to(self.folder)) for path in self.folder.glob(pattern) if path.is_file())
        random.Random(seed).shuffle(files)
        return files[:MOST_FILES]

    def train(self, *words):
        return self.cachet("train", *words, "--progress", "none")

    def refused_resume(self, file, change, said="with which the run began"):
        """Changes a file, holds the resume to a refusal, and puts the file back."""
        path = self.folder / file
        held, times = path.read_bytes(), path.stat()
        path.write_bytes(change(held))
        self.assertIn(said, self.refused("train", "run", "--resume", "--progress", "none", cwd=self.folder, code=1, lines=8))
        path.write_bytes(held)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def resumed(self, steps):
        done = self.train("run", "--resume", "--set", f"train.limit={steps} steps")
        self.assertNotIn("modification times", done.stderr)
        return done


def passed_over(count, among):
    """One of these positions that version 0.1.0 did not look at: it took 4,096 of them."""
    looked_at = {i * (count - 1) // 4095 for i in range(4096)}
    return next(place for place in among if place not in looked_at)


def flipped(place):
    return lambda held: held[:place] + bytes([held[place] ^ 1]) + held[place + 1:]


class Idx(SavedResults):
    def setUp(self):
        super().setUp()
        write_images(self.folder / "images")
        (self.folder / "tiny.toml").write_text(runs.RECIPE)
        self.train("tiny.toml", "--run", "run", "--set", "train.limit=4 steps")

    def test_saved_results(self):
        for number in range(3):
            write_png(self.folder / f"{number}.png", 8, 8, pixels(number))
        self.hold([(["eval", "run"], ""), (["predict", "run"], ".jsonl")], self.some("images/*"))
        self.hold([(["predict", "run", "0.png", "1.png", "2.png"], ".jsonl")], self.some("?.png"))
        self.hold([(["analyze", "run", "--samples", "8", "--steps", "8", "--what", "gates,interventions"], "")],
                  self.some("images/*", seed=2), refuses=False)

    def test_weights(self):
        weights = [path for path in self.some("run/checkpoints/*/model.safetensors")]
        self.hold([(["eval", "run"], ""), (["analyze", "run", "--samples", "8", "--what", "kernels"], "")], weights)

    def test_a_resume(self):
        images = "images/train-images-idx3-ubyte"
        self.refused_resume(images, flipped(16 + 64 * 95))
        self.refused_resume("images/t10k-labels-idx1-ubyte", flipped(20))
        packed = gzip.compress((self.folder / images).read_bytes())
        (self.folder / images).unlink()
        (self.folder / (images + ".gz")).write_bytes(packed)  # the same data
        self.resumed(8)
        shutil.move(self.folder / "images", self.folder / "elsewhere")
        done = self.train("run", "--resume", "--set", "train.limit=12 steps", "--set", "data.root=elsewhere")
        self.assertIn('data.root: "images" -> "elsewhere"', done.stderr)
        self.resumed(16)
        self.assertEqual(self.json_of("eval", "run", "--json", cwd=self.folder)["images"], 33)
        self.refused_resume("elsewhere/train-images-idx3-ubyte.gz", lambda held: gzip.compress(flipped(99)(gzip.decompress(held))))

    def test_a_resume_with_other_data_changes_nothing(self):
        write_images(self.folder / "elsewhere")
        labels = self.folder / "elsewhere/train-labels-idx1-ubyte"
        labels.write_bytes(flipped(50)(labels.read_bytes()))
        said = self.refused("train", "run", "--resume", "--set", "data.root=elsewhere", "--progress", "none", code=1,
                            lines=4, cwd=self.folder)
        self.assertIn("the training data are not the data with which the run began (labels, texts", said)
        self.assertIn('root = "images"', (self.folder / "run/resolved.toml").read_text())
        self.resumed(8)

    def test_seeds_share_their_data(self):
        self.train("tiny.toml", "--seeds", "1", "--run", "seeds", "--set", "train.limit=4 steps")
        labels = self.folder / "images/train-labels-idx1-ubyte"
        held = labels.read_bytes()
        labels.write_bytes(flipped(50)(held))
        said = command.run("train", "seeds", "--resume", "--seeds", "2", "--progress", "none", cwd=self.folder)
        self.assertEqual(said.returncode, 1, said.stderr)
        self.assertIn("the training data are not the data with which the run began", said.stderr)
        self.assertFalse((self.folder / "seeds/seed-1").exists())
        labels.write_bytes(held)
        self.train("seeds", "--resume", "--seeds", "2")


    def test_points_of_a_sweep_share_their_data(self):
        sweep = 'base = "tiny.toml"\n[sweep]\nseeds = 1\n[sweep.variants.narrow]\nmodel.embed_dim = 8\n'
        (self.folder / "sweep.toml").write_text(sweep)
        words = ["sweep", "sweep.toml", "--run", "many", "--resume", "--progress", "none", "--set", "train.limit=2 steps"]
        self.cachet(*words)
        (self.folder / "sweep.toml").write_text(sweep + "[sweep.variants.wide]\nmodel.embed_dim = 24\n")
        labels = self.folder / "images/train-labels-idx1-ubyte"
        held = labels.read_bytes()
        labels.write_bytes(flipped(50)(held))
        done = command.run(*words, cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("many/narrow/seed-0: the training data are not the data with which the run began", done.stderr)
        labels.write_bytes(held)
        self.cachet(*words)


class OldResults(command.FolderTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(OLD, self.folder, dirs_exist_ok=True)
        write_images(self.folder / "images")
        for number in range(3):
            write_png(self.folder / f"{number}.png", 8, 8, pixels(number))

    def test_they_are_computed_again_and_their_number_is_reported(self):
        for words, name, count in ((["eval", "run"], "evaluated", 33), (["predict", "run", "--top", "1"], "split.jsonl", 33),
                                   (["predict", "run", "0.png", "1.png", "2.png", "--top", "1"], "given.jsonl", 3)):
            with self.subTest(name):
                file = self.folder / name
                file = file / "predictions.jsonl" if file.is_dir() else file
                before = [json.loads(line) for line in file.read_text().splitlines()]
                done = self.cachet(*words, "-o", name)
                self.assertIn(f"{count} predictions of version 0.1.0 do not record the bytes of the samples, and are "
                              "computed again", done.stderr)
                again = [json.loads(line) for line in file.read_text().splitlines()]
                self.assertEqual(len(again), count)
                for old, new in zip(before, again):
                    self.assertEqual(len(new.pop("sample_digest")), 16)
                    for record in (old, new):
                        record.pop("source")
                    self.assertEqual([key for key in old], [key for key in new])
                    self.assertEqual(old["predicted"], new["predicted"])
                done = self.cachet(*words, "-o", name)
                self.assertNotIn("0.1.0", done.stderr)
                self.assertIn(f"holds {count} of {count}", done.stderr)

    def test_those_of_another_model_stay(self):
        for words, name in ((["eval", "run", "--set", "data.resize.crop_fraction=0.5"], "evaluated"),
                            (["predict", "run", "1.png", "0.png", "0.png", "--top", "1"], "given.jsonl"),
                            (["predict", "run", "0.png", "1.png", "0.png", "--top", "1"], "given.jsonl"),
                            (["predict", "run", "0.png", "1.png", "--top", "1"], "given.jsonl")):
            held = {path: path.read_bytes() for path in self.folder.glob(name + "*") if path.is_file()}
            self.assertRegex(self.refused(*words, "-o", name, code=1, cwd=self.folder),
                             "another model or sample|has 3 predictions, but only 2 samples are requested")
            self.assertEqual(held, {path: path.read_bytes() for path in held})

    def test_they_are_matched_with_their_samples_wherever_these_stand(self):
        done = self.cachet("predict", "run", "2.png", "0.png", "0.png", "1.png", "--top", "1", "-o", "given.jsonl")
        self.assertIn("3 predictions of version 0.1.0 do not record the bytes of the samples, and are computed again", done.stderr)
        self.cachet("predict", "run", "2.png", "0.png", "0.png", "1.png", "--top", "1", "-o", "fresh.jsonl")
        self.assertEqual((self.folder / "given.jsonl").read_bytes(), (self.folder / "fresh.jsonl").read_bytes())

    def test_those_of_a_model_folder_are_known(self):
        words = ["predict", "model", "0.png", "1.png", "2.png", "--top", "1", "-o", "given_model.jsonl"]
        before = [json.loads(line)["top"] for line in (self.folder / "given_model.jsonl").read_text().splitlines()]
        held = (self.folder / "given_model.jsonl").read_bytes()
        said = self.refused(*words, "--set", "data.orientation=apply", code=1, cwd=self.folder)
        self.assertIn("another model or sample, or to other data or options", said)
        self.assertEqual((self.folder / "given_model.jsonl").read_bytes(), held)
        self.assertIn("3 predictions of version 0.1.0 do not record", self.cachet(*words).stderr)
        after = [json.loads(line)["top"] for line in (self.folder / "given_model.jsonl").read_text().splitlines()]
        self.assertEqual([[each["label"] for each in top] for top in before], [[each["label"] for each in top] for top in after])
        self.assertIn("holds 3 of 3 predictions", self.cachet(*words).stderr)

    def test_keys_that_are_newer_are_known(self):
        """Those of a run of version 0.1.0 that its recipe did not have: a default of one changes no digest of that version."""
        newer = set()
        for folder in (self.folder / "run", OLD.parent / "class_folders/run"):
            before, now = (tomllib.loads(text) for text in ((folder / "resolved.toml").read_text(), self.cachet(
                "train", str(folder / "recipe.toml"), "--print", "--set", "data.root=images").stdout))

            def keys(table, prefix=""):
                return {key for name, value in table.items() for key in (
                    keys(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name})}

            newer |= {key for key in keys(now) - keys(before) if not key.startswith(("train.", "optimizer.", "schedule."))}
        self.assertLessEqual(newer, {"data.orientation"}, "train/runs/earlier_values.cpp lists such keys")

    def test_a_run_is_compared_by_its_old_digest_once(self):
        labels = self.folder / "images/train-labels-idx1-ubyte"
        held = labels.read_bytes()
        labels.write_bytes(flipped(50)(held))
        said = self.refused("train", "run", "--resume", "--set", "train.limit=8 steps", "--progress", "none", code=1,
                            lines=4, cwd=self.folder)
        self.assertIn("the training data are not the data with which the run began", said)
        labels.write_bytes(held)
        done = self.cachet("train", "run", "--resume", "--set", "train.limit=8 steps", "--progress", "none")
        self.assertIn("the run began with version 0.1.0, which compared only a part of the data", done.stderr)
        data = json.loads((self.folder / "run/run.json").read_text())["data"]
        self.assertEqual({split: digest["version"] for split, digest in data.items()}, {"training": 2, "evaluation": 2})
        done = self.cachet("train", "run", "--resume", "--set", "train.limit=12 steps", "--progress", "none")
        self.assertNotIn("0.1.0, which", done.stderr)
        shutil.move(self.folder / "images", self.folder / "elsewhere")
        self.cachet("train", "run", "--resume", "--set", "train.limit=16 steps", "--set", "data.root=elsewhere", "--progress", "none")

    def test_compare_settles_by_the_old_digest_whether_the_test_data_are_the_same(self):
        self.cachet("train", "run/recipe.toml", "--run", "new", "--set", "model.depth=2", "--progress", "none")
        # Another test set, of which the new run knows today's digest.
        shutil.copytree(self.folder / "images", self.folder / "others")
        labels = self.folder / "others/t10k-labels-idx1-ubyte"
        labels.write_bytes(flipped(20)(labels.read_bytes()))
        self.cachet("train", "run/recipe.toml", "--run", "elsewhere", "--set", "model.depth=2", "--set", "data.root=others",
                    "--progress", "none")

        def note(other):
            done = self.cachet("compare", "run", other)
            self.assertEqual(done.stderr, "")
            text = " ".join(done.stdout.split())
            return ("not known" if "It is not known whether these runs have the same test data" in text else
                    "others" if "the test data are not the same" in text else "the same")

        self.assertEqual([note("new"), note("elsewhere")], ["the same", "others"])
        shutil.move(self.folder / "images", self.folder / "gone")
        self.assertEqual([note("new"), note("elsewhere")], ["not known", "not known"])
        shutil.move(self.folder / "others", self.folder / "images")  # not what the old run was measured on
        self.assertEqual([note("new"), note("elsewhere")], ["not known", "not known"])
        self.assertEqual(json.loads((self.folder / "run/run.json").read_text()), json.loads((OLD / "run/run.json").read_text()))

    def test_digests_of_a_later_version_are_not_compared(self):
        path = self.folder / "run/run.json"
        run = json.loads(path.read_text())
        run["data"] = {"training": {"version": 3, "contents": "0" * 16}}
        path.write_text(json.dumps(run))
        said = self.refused("train", "run", "--resume", "--progress", "none", code=1, cwd=self.folder)
        self.assertIn("the digest of its data has version 3", said)


class ClassFolders(SavedResults):
    def setUp(self):
        super().setUp()
        write_class_folders(self.folder / "folders")
        (self.folder / "tiny.toml").write_text(FOLDERS)
        self.train("tiny.toml", "--run", "run", "--set", "train.limit=2 steps")

    def swap(self, first, second):
        """Gives two files each other's bytes, and keeps their times."""
        paths = [self.folder / first, self.folder / second]
        held = [(path.read_bytes(), path.stat()) for path in paths]
        self.assertEqual(len(held[0][0]), len(held[1][0]))
        for path, (_, times), (data, _) in zip(paths, held, reversed(held)):
            path.write_bytes(data)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def test_saved_results(self):
        self.hold([(["eval", "run"], ""), (["predict", "run"], ".jsonl")], self.some("folders/val/*/*"))
        analysis = ["analyze", "run", "--samples", "9", "--steps", "8", "--what", "similarity,kernels"]
        self.hold([(analysis, "")], self.some("folders/val/*/*", seed=2), refuses=False)

    def test_files_that_are_swapped(self):
        commands = [(["eval", "run"], ""), (["predict", "run"], ".jsonl"),
                    (["analyze", "run", "--samples", "9", "--what", "similarity"], "")]
        for words, suffix in commands:
            self.cachet(*words, "-o", "kept" + suffix)
            self.swap("folders/val/blue/0.png", "folders/val/red/1.png")
            found = self.answers_as_a_fresh_call(words, "kept" + suffix, suffix, words)
            self.assertEqual(found, "the same numbers" if words[0] == "analyze" else "refused")
            self.swap("folders/val/blue/0.png", "folders/val/red/1.png")
            self.assertEqual(self.answers_as_a_fresh_call(words, "kept" + suffix, suffix, words), "the same numbers")
            self.restored("nothing", "kept" + suffix)
        self.cachet("eval", "run", "-o", "kept")
        self.swap("folders/val/blue/0.png", "folders/val/red/1.png")
        said = self.refused("eval", "run", "-o", "kept", code=1, cwd=self.folder)
        self.assertIn("kept/predictions.jsonl: line 1 is the prediction of a sample whose bytes have changed since", said)

    def test_a_resume(self):
        for folder, name in (("train", "training"), ("val", "evaluation")):
            path = self.folder / "folders" / folder / "blue/0.png"
            held, times = path.read_bytes(), path.stat()
            said = "(the names, the sizes or the number of the image files differ)"
            self.refused_resume(f"folders/{folder}/blue/0.png", lambda data: data + b"\0", said)
            path.rename(path.with_name("0b.png"))
            self.assertIn(said, self.refused("train", "run", "--resume", "--progress", "none", cwd=self.folder, code=1, lines=8))
            path.with_name("0b.png").rename(path)
            write_stored_png(path, pixels(77))
            done = self.train("run", "--resume")
            self.assertIn(f"the image files of the {name} data have other modification times than at the start of the run. Their names and sizes are the same; their bytes were not compared", done.stderr)
            path.write_bytes(held)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.resumed(3)
        shutil.copytree(self.folder / "folders", self.folder / "elsewhere")  # with the times
        shutil.rmtree(self.folder / "folders")
        self.train("run", "--resume", "--set", "train.limit=4 steps", "--set", "data.root=elsewhere")
        self.resumed(4)


class Detection(SavedResults):
    def setUp(self):
        super().setUp()
        self.cachet(*runs.shapes_command(4, 5, 32))
        (self.folder / "tiny.toml").write_text(DETECTOR)
        self.train("tiny.toml", "--run", "run", "--set", "train.limit=1 steps")

    def test_saved_results(self):
        files = ["shapes/annotations/instances_val.json"] * (20 if FULL else 2) + self.some("shapes/images/val/*")
        self.hold([(["eval", "run"], ""), (["predict", "run"], ".jsonl")], files)
        self.hold([(["predict", "run", "shapes/images/val"], ".jsonl"), (["predict", "run", "shapes/images/val"], "")],
                  self.some("shapes/images/val/*", seed=2)[:2])
        analysis = ["analyze", "run", "--samples", "4", "--what", "similarity"]
        self.hold([(analysis, "")], [files[0], "shapes/images/val/000001.png"], refuses=False)

    def test_pictures_that_are_replaced(self):
        before = self.json_of("eval", "run", "-o", "kept", "--json", cwd=self.folder)["metrics"]
        folder = self.folder / "shapes/images"
        shutil.copy(folder / "train/000001.png", folder / "val/000003.png")
        said = self.refused("eval", "run", "-o", "kept", code=1, cwd=self.folder)
        self.assertIn("is the prediction of a sample whose bytes have changed since", said)
        self.cachet("eval", "run", "-o", "kept", "--overwrite")
        again = self.json_of("eval", "run", "-o", "kept", "--json", cwd=self.folder)["metrics"]
        self.assertEqual(again, self.json_of("eval", "run", "--json", cwd=self.folder)["metrics"])
        self.assertEqual(set(again), set(before))

    def test_a_resume(self):
        for split, name in (("train", "training"), ("val", "evaluation")):
            file = f"shapes/annotations/instances_{split}.json"
            for key in (b'"segmentation":', b'"area":'):  # version 0.1.0 saw neither
                def change(held, key=key):
                    place = next(i for i in range(held.index(key), len(held)) if held[i:i + 1] in b"12345678")
                    return held[:place] + bytes([held[place] + 1]) + held[place + 1:]
                self.refused_resume(file, change, f"the {name} data are not the data")
            path = self.folder / f"shapes/images/{split}/000001.png"
            path.touch()
            self.assertIn(f"the image files of the {name} data have other modification times",
                          self.train("run", "--resume").stderr)


class Language(SavedResults):
    def setUp(self):
        super().setUp()
        (self.folder / "wikitext-2").mkdir()
        for name, lines, first in (("train", 120, 0), ("valid", 20, 5), ("test", 21, 9)):
            (self.folder / f"wikitext-2/wiki.{name}.tokens").write_text(rule_text(lines, first))
        self.cachet("data", "words", "wikitext-2", "-o", "words.txt", "--vocabulary", "24")
        self.train("wikitext2_grc", "--run", "run", *SMALL_LANGUAGE, "--set", "data.vocabulary=23", "--set", "train.limit=2 steps")

    def test_saved_results(self):
        texts = self.some("wikitext-2/*")
        self.hold([(["eval", "run"], "")], texts)
        self.hold([(["analyze", "run", "--samples", "32", "--what", "interventions"], "")], texts[:2], refuses=False)

    def test_one_token_of_many(self):
        path = self.folder / "wikitext-2/wiki.test.tokens"
        tokens = [word for line in rule_text(2000, 9).splitlines() for word in line.split() + ["\n"]]
        path.write_text(" ".join(tokens))
        self.cachet("eval", "run", "-o", "kept")
        place = passed_over(len(tokens), [i for i, token in enumerate(tokens) if token == "word3"])
        tokens[place] = "word4"
        path.write_text(" ".join(tokens))
        self.assertEqual(self.answers_as_a_fresh_call(["eval", "run"], "kept", "", "a token"), "refused")

    def test_a_resume(self):
        train = "wikitext-2/wiki.train.tokens"
        self.refused_resume(train, lambda held: held.replace(b"word3", b"word4", 1))
        self.cachet("data", "tokens", "wikitext-2", "--vocabulary-file", "words.txt", "-o", "wikitext-2")
        self.resumed(4)  # the same tokens from files of them
        for file in self.some("wikitext-2/*.tokens-cachet"):
            (self.folder / file).unlink()
        self.resumed(6)


class Translation(SavedResults):
    def setUp(self):
        super().setUp()
        write_pairs(self.folder / "pairs", range(40), range(40, 48), range(50, 58))
        (self.folder / "tiny.toml").write_text(TRANSLATION)
        self.train("tiny.toml", "--run", "run", "--set", "train.limit=2 steps")

    def test_saved_results(self):
        texts = ["pairs/test.de", "pairs/test.en"]
        self.hold([(["eval", "run"], "")], texts)
        self.hold([(["analyze", "run", "--samples", "8", "--what", "similarity"], "")], texts, refuses=False)

    def test_one_pair_of_many(self):
        lines = [[pair(number)[side] for number in range(5000)] for side in range(2)]
        for side, language in enumerate(("de", "en")):
            (self.folder / f"pairs/train.{language}").write_text("\n".join(lines[side]) + "\n")
        self.train("tiny.toml", "--run", "many", "--set", "train.limit=1 steps")
        place = passed_over(5000, range(4000, 5000))
        lines[1][place] = "b9 " * len(lines[1][place].split())
        (self.folder / "pairs/train.en").write_text("\n".join(lines[1]) + "\n")
        self.assertIn("the training data are not the data",
                      self.refused("train", "many", "--resume", "--progress", "none", cwd=self.folder, code=1, lines=8))

    def test_a_resume(self):
        self.refused_resume("pairs/train.en", lambda held: held.replace(b"b1", b"b2", 1))
        self.refused_resume("pairs/valid.de", lambda held: held.replace(b"a1", b"a2", 1), "the evaluation data")
        self.resumed(4)


class Sequences(SavedResults):
    def begin(self, recipe, *words):
        self.train(recipe, "--run", "run", *SMALL_ENCODER, *words, "--set", "train.limit=2 steps")

    def hold_all(self, pattern, refuses=True):
        self.hold([(["eval", "run"], ""), (["predict", "run"], ".jsonl")], self.some(pattern), refuses=refuses)

    def test_reviews(self):
        write_reviews(self.folder / "aclImdb")
        self.begin("lra_text")
        self.hold_all("aclImdb/test/*/*")
        analysis = ["analyze", "run", "--samples", "8", "--steps", "8", "--what", "similarity"]
        self.hold([(analysis, "")], self.some("aclImdb/test/*/*", seed=2), refuses=False)
        self.refused_resume("aclImdb/train/neg/3_5.txt", lambda held: held + b" " * 80)  # after the position where it is cut
        long = self.folder / "aclImdb/train/neg/3_5.txt"
        long.write_text("word " * 60)
        self.assertIn("with which the run began", self.refused("train", "run", "--resume", "--progress", "none", cwd=self.folder, code=1, lines=8))

    def test_pairs(self):
        write_reviews(self.folder / "aclImdb")
        self.cachet("data", "matching", "--imdb", "aclImdb", "-o", "pairs")
        self.begin("lra_matching", "--set", "data.root=pairs", "--set", "data.files=imdb_pairs")
        self.hold_all("pairs/imdb_pairs.test.tsv")

    def test_expressions(self):
        self.cachet("data", "listops", "-o", "listops", "--train", "40", "--validation", "10", "--test", "10",
                    "--longer-than", "5", "--shorter-than", "40", "--progress", "none")
        self.begin("lra_listops_bigbird_cached")
        self.hold_all("listops/basic_test.tsv")
        self.refused_resume("listops/basic_train.tsv", lambda held: held[:-2] + bytes([held[-2] ^ 1]) + held[-1:])

    def test_pixels(self):
        folder = self.folder / "cifar-10-batches-bin"
        folder.mkdir()
        for name in [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]:
            records = b"".join(bytes([label]) + bytes((label * 20 + place) % 256 for place in range(3072))
                               for label in range(10))
            (folder / f"{name}.bin").write_bytes(records)
        self.begin("lra_image")
        self.hold_all("cifar-10-batches-bin/test_batch.bin", refuses=False)  # a sequence has its first pixels
        self.refused_resume("cifar-10-batches-bin/data_batch_3.bin", lambda held: held[:1] + bytes([held[1] ^ 128]) + held[2:])


if __name__ == "__main__":
    command.main()
