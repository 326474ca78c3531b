"""How pixels were normalised in training is part of a run and of its exports: no command computes mean and deviation of the data
that are present, and no given image is brought to the size of these data."""
import json
import math
import shutil
import struct

import command
import runs

OLD = command.ROOT / "tests/data/saved_by_0_1_0/idx"
STATISTICS = "image_statistics.json"
MEAN, STD = 0.3118489583333333, 0.23294159190880728  # of the images of runs.write_images(), over all training pixels
KEYS = "data.normalization.mean and data.normalization.std"


def write_idx(root, values, side=8, train=96, test=33):
    """As runs.write_images(), with values(index) for the pixels of an image."""
    root.mkdir()
    for prefix, count in (("train", train), ("t10k", test)):
        data = b"".join(values(index) for index in range(count))
        (root / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, count, side, side) + data)
        (root / f"{prefix}-labels-idx1-ubyte").write_bytes(
            struct.pack(">2I", 0x801, count) + bytes(index % 4 for index in range(count)))


class TrainedPixels(runs.RunTest):
    def setUp(self):
        super().setUp()
        write_idx(self.folder / "dark", lambda index: bytes(value // 4 for value in runs.pixels(index)))
        self.images = [f"{number}.png" for number in range(3)]
        for number, name in enumerate(self.images):
            runs.write_png(self.folder / name, 8, 8, runs.pixels(number))

    def old(self, name="run", to="run"):
        shutil.rmtree(self.folder / to, ignore_errors=True)
        shutil.copytree(OLD / name, self.folder / to)

    def answers(self, *words):
        return [json.loads(line)["top"] for line in self.cachet("predict", *words, "--logits").stdout.splitlines()]

    def loss(self, *words):
        return self.json_of("eval", *words, "--json", cwd=self.folder)["metrics"]["loss"]

    def given(self):
        """Mean and deviation of training as settings."""
        return ("--set", f"data.normalization.mean={MEAN}", "--set", f"data.normalization.std={STD}")

    def test_the_values_are_those_of_all_training_pixels(self):
        pixels = [value for index in range(96) for value in runs.pixels(index)]
        mean = sum(pixels) / len(pixels)
        variance = sum((value - mean)**2 for value in pixels) / len(pixels)
        self.assertAlmostEqual(mean / 255, MEAN, delta=1e-12)
        self.assertAlmostEqual(math.sqrt(variance) / 255, STD, delta=1e-12)

    def test_are_part_of_a_run(self):
        self.train("run")
        kept = json.loads((self.folder / "run" / STATISTICS).read_text())
        self.assertEqual(kept, {"mean": [MEAN], "std": [STD], "height": 8, "width": 8})
        self.assertEqual(self.loss("run", "--data", "dark"), self.loss("run", "--data", "dark", *self.given()))
        expected = self.answers("run", *self.images)
        self.assertEqual(self.answers("run", *self.images, "--set", "data.limit=3"), expected)
        self.assertEqual(self.answers("run", *self.images, "--data", "dark"), expected)
        shutil.rmtree(self.folder / "images")
        self.assertEqual(self.answers("run", *self.images), expected)
        self.assertNotEqual(self.loss("run", "--data", "dark", "--set", "data.normalization.source=none"),
                            self.loss("run", "--data", "dark"))

    def test_a_run_is_resumed_with_them(self):
        self.train("run", "--set", "train.epochs=1")
        (self.folder / "run" / STATISTICS).write_text(json.dumps({"mean": [0.25], "std": [0.5], "height": 8, "width": 8}))
        self.train("run", "--resume", "--set", "train.epochs=2")
        self.train("whole", "--set", "train.epochs=2")
        self.assertNotEqual(self.weights("run"), self.weights("whole"), "the run trained on with its own mean")

    def test_a_damaged_file_is_refused(self):
        self.train("run")
        for text in ("", "{", "[]", '{"mean": [0.5]}', '{"mean": [0.5], "std": [0], "height": 8, "width": 8}',
                     '{"mean": [0.5, 0.5], "std": [1], "height": 8, "width": 8}',
                     '{"mean": [0.5], "std": [1], "height": 0, "width": 8}', '{"mean": "x", "std": [1], "height": 8, "width": 8}'):
            (self.folder / "run" / STATISTICS).write_text(text)
            said = self.refused("predict", "run", *self.images, cwd=self.folder, code=1)
            self.assertIn(STATISTICS + ": is damaged", said, text)

    def test_an_old_run_computes_them_once(self):
        for words in (("eval", "run", "--data", "dark"), ("predict", "run", *self.images, "--set", "data.limit=3"),
                      ("export", "run", "-o", "out", "--engine", "torch", "--data", "dark")):
            self.old()
            done = self.cachet(*words)
            self.assertEqual(done.stderr.count(STATISTICS + " is new"), 1, (words, done.stderr))
            self.assertEqual(json.loads((self.folder / "run" / STATISTICS).read_text())["mean"], [MEAN])
            self.assertNotIn(STATISTICS, self.cachet(*words, *(("--overwrite", ) if words[0] == "export" else ())).stderr)
        exported = json.loads((self.folder / "out/export.json").read_text())["image"]
        self.assertEqual((exported["mean"], exported["std"]), ([MEAN], [STD]))
        self.assertAlmostEqual(self.loss("out", "--data", "dark"), self.loss("run", "--data", "dark", *self.given()), delta=1e-5)
        expected = self.answers("run", *self.images)
        self.cachet("clean", "run", "-o", "bare")
        shutil.rmtree(self.folder / "images")
        self.assertEqual(self.answers("bare", *self.images), expected)

    def test_an_old_run_without_its_data_refuses(self):
        self.old()
        (self.folder / "images").rename(self.folder / "moved")
        for words in (("eval", "run", "--data", "dark"), ("predict", "run", *self.images),
                      ("predict", "run", *self.images, "--data", "dark"), ("export", "run", "-o", "out")):
            said = self.refused(*words, cwd=self.folder, code=1)
            self.assertIn(KEYS, said)
        self.assertFalse((self.folder / "run" / STATISTICS).exists())
        self.assertEqual(len(self.answers("run", *self.images, *self.given())), 3)
        (self.folder / "dark").rename(self.folder / "images")
        self.assertIn("are not the data with which the run began", self.refused("eval", "run", cwd=self.folder, code=1))
        self.cachet("export", "run", "-o", "weights.safetensors")
        self.assertIn(STATISTICS + " is new", self.cachet("eval", "run", "--data", "moved").stderr)

    def test_an_old_export_takes_them_from_its_manifest(self):
        self.old("export", "old")
        self.old()
        expected = self.answers("old", *self.images)
        # Its weights were folded on another processor.
        for old, own in zip(expected, self.answers("run", *self.images), strict=True):
            self.assertEqual([guess["class"] for guess in old], [guess["class"] for guess in own])
            for one, other in zip(old, own, strict=True):
                self.assertAlmostEqual(one["probability"], other["probability"], delta=1e-6)
        for words in (("--data", "dark"), ("--set", "data.limit=3")):
            self.assertEqual(self.answers("old", *self.images, *words), expected, words)
        self.assertAlmostEqual(self.loss("old", "--data", "dark"), self.loss("run", "--data", "dark"), delta=1e-6)
        shutil.rmtree(self.folder / "images")
        self.assertEqual(self.answers("old", *self.images), expected)
        said = self.cachet("predict", "old", *self.images).stderr
        self.assertEqual(said.count("is an export of an earlier version"), 1, said)

    def test_a_given_image_is_brought_to_the_size_of_training(self):
        larger = ("--set", "data.resize.image_size=16", "--set", "model.image_size=16")
        self.train("run", *larger)
        runs.write_png(self.folder / "tall.png", 20, 30, bytes((7 * place) % 251 for place in range(600)))
        expected = self.answers("run", "tall.png")
        self.cachet("export", "run", "-o", "out", "--engine", "torch")
        write_idx(self.folder / "small", lambda index: runs.pixels(index)[:16], side=4)
        for model in ("run", "out"):
            self.assertEqual(self.answers(model, "tall.png", "--data", "small"), self.answers(model, "tall.png"))
        shutil.rmtree(self.folder / "images")
        self.assertEqual(self.answers("run", "tall.png"), expected)


class ExportedNames(runs.RunTest):
    def test_numbers_stay_numbers(self):
        runs.write_png(self.folder / "0.png", 8, 8, runs.pixels(0))
        shutil.copytree(command.ROOT / "tests/data/saved_by_0_1_0/class_folders/export", self.folder / "old")
        manifest = self.folder / "old/export.json"
        content = json.loads(manifest.read_text())
        content["classes"] = ["0", "1", "2"]
        manifest.write_text(json.dumps(content))
        for split in ("train", "val"):
            for name in ("blue", "green", "red"):
                (self.folder / "folders" / split / name).mkdir(parents=True)
                runs.write_png(self.folder / "folders" / split / name / "0.png", 8, 8, runs.pixels(1))
        for words in (("0.png", ), ()):
            lines = self.cachet("predict", "old", *words, "--data", "folders").stdout.splitlines()
            for line in lines:
                self.assertEqual({guess["class"] for guess in json.loads(line)["top"]}, {"0", "1", "2"}, words)


if __name__ == "__main__":
    command.main()
