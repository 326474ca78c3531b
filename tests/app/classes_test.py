"""Classes have names, and these are part of a model: whatever lies in a folder, an answer means the same class."""
import json
import os
import random
import shutil

import command
import runs

RECIPE = """
[data]
root = "images"
kind = "class_folders"
classes = {classes}
workers = 0
[data.resize]
image_size = 8
[data.augmentation]
crop = "centre"
[model]
name = "vit_tiny_patch16_224"
patch_size = 4
embed_dim = 16
depth = 1
num_heads = 2
[optimizer]
lr = 0.01
[train]
epochs = 8
batch_size = 6
threads = 1
"""
COLORS = ("blue", "green", "red")


class Classes(command.FolderTest):
    def write(self, root, classes, train=6, val=4):
        """Folders of grey images, a shade for each class: {name: shade}."""
        for split, count in (("train", train), ("val", val)):
            for name, shade in classes.items():
                folder = self.folder / root / split / name
                folder.mkdir(parents=True)
                noise = random.Random(name + split)
                for number in range(count):
                    pixels = bytes(shade + noise.randrange(8) for _ in range(64))
                    runs.write_png(folder / f"{number}.png", 8, 8, pixels, level=0)

    def train_on(self, classes, run="run", root="images"):
        self.write(root, classes)
        (self.folder / "tiny.toml").write_text(RECIPE.format(classes=len(classes)))
        self.cachet("train", "tiny.toml", "--run", run, "--progress", "none", "--set", f"data.root={root}")

    def setUp(self):
        super().setUp()
        self.shades = dict(zip(COLORS, (0, 120, 240)))
        self.train_on(self.shades)

    def top1(self, *words):
        return self.json_of("eval", *words, "--json", cwd=self.folder)["metrics"]["top1"]

    def predicted(self, *words):
        """The likeliest class of each."""
        return [json.loads(line)["top"][0]["class"] for line in self.cachet("predict", *words).stdout.splitlines()]

    def take_old(self, name, to):
        """What version 0.1.0 made of the same images; it did not store the names of classes."""
        shutil.copytree(command.ROOT / "tests/data/saved_by_0_1_0/class_folders" / name, self.folder / to)

    def test_are_matched_by_name(self):
        self.assertEqual(self.top1("run"), 1)
        self.assertIn('class_names = ["blue", "green", "red"]  # saved by the run', (self.folder / "run/resolved.toml").read_text())
        self.assertNotIn("data.class_names", json.loads((self.folder / "run/run.json").read_text())["set"])
        self.write("fewer", {"green": 120, "red": 240})
        self.assertEqual(self.top1("run", "--data", "fewer"), 1, "a missing class is allowed")
        self.assertEqual(self.top1("run", "--set", "data.root=fewer/val"), 1)
        self.write("others", {"green": 120, "red": 240, "yellow": 200})
        for words in (("--data", "others"), ("--set", "data.root=others"), ("--data", "others/val")):
            said = self.refused("eval", "run", *words, cwd=self.folder, code=1)
            self.assertIn("the model has no class 'yellow'. Its 3 classes are 'blue', 'green', 'red'", said)
        self.assertIn("no class 'yellow'", self.refused("predict", "run", "--data", "others", cwd=self.folder, code=1))
        self.assertIn("no class 'yellow'", self.refused("analyze", "run", "--data", "others", "-o", "page",
                                                        cwd=self.folder, code=1, lines=3))

    def test_whose_names_sort_otherwise(self):
        shades = {"1": 0, "2": 120, "10": 240}
        self.train_on(shades, "numbers", "counted")
        self.assertEqual(self.top1("numbers"), 1)
        for shades, root in (({"1": 0, "2": 120}, "first"), ({"2": 120, "10": 240}, "last")):
            self.write(root, shades)
            self.assertEqual(self.top1("numbers", "--data", root), 1, root)
        image = str(self.folder / "counted/val/10/0.png")
        self.assertEqual(self.predicted("numbers", image), ["10"])

    def test_answers_do_not_depend_on_a_folder(self):
        files = [f"images/val/{name}/0.png" for name in COLORS]
        shutil.copytree(self.folder / "images", self.folder / "kept")
        kept = [file.replace("images", "kept") for file in files]
        self.assertEqual(self.predicted("run", *files), list(COLORS))
        (self.folder / "images/train/blue").rename(self.folder / "images/train/zebra")
        (self.folder / "images/val/blue").rename(self.folder / "images/val/zebra")
        self.assertEqual(self.predicted("run", *kept), list(COLORS))
        shutil.rmtree(self.folder / "images")
        self.assertEqual(self.predicted("run", *kept), list(COLORS))

    def test_of_an_export_are_its_own(self):
        files = [f"kept/val/{name}/0.png" for name in COLORS]
        shutil.copytree(self.folder / "images", self.folder / "kept")
        shutil.rmtree(self.folder / "images")
        self.write("images", {"amber": 0, "green": 120, "red": 240})
        said = self.refused("export", "run", "-o", "out", "--engine", "torch", cwd=self.folder, code=1)
        self.assertIn("the model has no class 'amber'", said)
        self.cachet("export", "run", "-o", "out", "--engine", "torch", "--data", "kept")
        shutil.rmtree(self.folder / "images")
        self.cachet("export", "run", "-o", "alone", "--engine", "torch", "--data", "nowhere")
        self.write("images", {"amber": 0, "green": 120, "red": 240})
        for export in ("out", "alone"):
            self.assertEqual(json.loads((self.folder / export / "export.json").read_text())["classes"], list(COLORS))
            self.assertEqual(self.predicted(export, *files), list(COLORS))
            self.assertEqual(self.top1(export, "--data", "kept"), 1)
            self.assertIn("no class 'amber'", self.refused("eval", export, "--data", "images", cwd=self.folder, code=1))

    def test_a_manifest_and_a_recipe_with_other_names_are_refused(self):
        self.cachet("export", "run", "-o", "out", "--engine", "torch")
        manifest = self.folder / "out/export.json"
        # As version 0.1.0 wrote it, without a digest.
        forged = json.loads(manifest.read_text())
        forged.update(version=1, source=forged["source"]["made_of"])
        del forged["digest"], forged["image"]["resize_in"]
        manifest.write_text(json.dumps(forged))
        self.assertEqual(self.predicted("out", "images/val/red/0.png"), ["red"])
        manifest.write_text(json.dumps({**forged, "classes": ["blue", "red", "green"]}))
        said = self.refused("predict", "out", "images/val/red/0.png", cwd=self.folder, code=1)
        self.assertIn("export.json and recipe.toml have different class names", said)

    def test_of_an_old_export_are_its_manifests(self):
        self.take_old("export", "old")
        shutil.copytree(self.folder / "images", self.folder / "kept")
        for split in ("train", "val"):
            (self.folder / "images" / split / "blue").rename(self.folder / "images" / split / "zebra")
        self.assertEqual(self.predicted("old", *(f"kept/val/{name}/0.png" for name in COLORS)), list(COLORS))
        self.assertNotIn("by position", self.cachet("eval", "old", "--data", "kept/val").stderr)
        self.assertIn("no class 'zebra'", self.refused("eval", "old", cwd=self.folder, code=1))

    def test_an_old_run_says_that_it_matches_by_position(self):
        self.take_old("run", "old")
        done = self.cachet("eval", "old")
        self.assertIn("the model does not store the names of its classes. Its classes are matched by position", done.stderr)
        self.assertEqual(self.top1("old"), 1)
        named = self.cachet("eval", "old", "--set", 'data.class_names=["blue", "green", "red"]')
        self.assertNotIn("by position", named.stderr)
        self.cachet("export", "old", "-o", "out", "--engine", "torch")
        self.assertEqual(json.loads((self.folder / "out/export.json").read_text())["classes"], list(COLORS))
        resumed = self.cachet("train", "old", "--resume", "--set", "train.epochs=9", "--progress", "none")
        self.assertIn("resuming old", resumed.stderr)
        self.assertNotIn("class_names", (self.folder / "old/resolved.toml").read_text())
        words = ("--set", "train.evaluate_every='8 epochs'", "--set", "train.keep=1")
        self.cachet("train", "tiny.toml", "--run", "old", "--resume", "--set", "train.epochs=10", "--progress", "none", *words)

    def test_an_export_without_names_says_so(self):
        self.take_old("run", "old")
        (self.folder / "images").rename(self.folder / "kept")
        report = self.json_of("export", "old", "-o", "out", "--engine", "torch", "--json", cwd=self.folder)
        self.assertEqual(json.loads((self.folder / "out/export.json").read_text())["classes"], ["0", "1", "2"])
        self.assertIn("the export has numbers instead of class names", " ".join(report["notes"]))
        self.assertIn("export again with --data FOLDER", " ".join(report["notes"]))
        for words in (("old", "--data", "kept"), ("old", "--set", 'data.class_names=["blue", "green", "red"]'), ("run",)):
            report = self.json_of("export", *words, "-o", "out", "--overwrite", "--engine", "torch", "--json", cwd=self.folder)
            self.assertEqual(json.loads((self.folder / "out/export.json").read_text())["classes"], list(COLORS))
            self.assertNotIn("are not known", " ".join(report["notes"]))

    def test_a_run_is_not_resumed_with_other_classes(self):
        words = ("train", "run", "--resume", "--set", "train.epochs=9", "--progress", "none")
        by_recipe = ("train", "tiny.toml", "--run", "run", "--resume", "--set", "train.epochs=9", "--progress", "none")
        for split in ("train", "val"):
            (self.folder / "images" / split / "blue").rename(self.folder / "images" / split / "amber")
        self.assertIn("the model has no class 'amber'", self.refused(*words, cwd=self.folder, code=1))
        self.refused(*by_recipe, cwd=self.folder, code=1, lines=5)
        for split in ("train", "val"):
            (self.folder / "images" / split / "amber").rename(self.folder / "images" / split / "blue")
        self.cachet(*by_recipe)
        self.cachet("train", "run", "--resume", "--set", "train.epochs=10", "--progress", "none", "--processes", "2")

    def test_a_model_folder_has_those_of_its_source(self):
        model = [word for key in ("image_size=8", "patch_size=4", "embed_dim=16", "depth=1", "num_heads=2", "classes=3")
                 for word in ("--set", f"model.{key}")]
        weights = self.folder / "weights"
        weights.mkdir()
        self.cachet("export", "run", "-o", str(weights / "model.safetensors"))
        importing = ("import", "weights/model.safetensors", "--model", "vit_tiny_patch16_224", *model)
        shutil.copytree(self.folder / "images", self.folder / "kept")
        self.cachet(*importing, "-o", "unnamed")
        self.assertNotIn("class_names", (self.folder / "unnamed/recipe.toml").read_text())
        self.assertIn("matched by position", self.cachet("eval", "unnamed", "--data", "kept").stderr)

        # As timm writes them, in both of its forms.
        images = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], "crop_pct": 1.0}
        for number, config in enumerate(({"pretrained_cfg": images, "label_names": COLORS},
                                         {**images, "label_names": COLORS})):
            (weights / "config.json").write_text(json.dumps({"architecture": "vit", **config}))
            self.cachet(*importing, "-o", f"model{number}")
            config = json.loads((self.folder / f"model{number}/config.json").read_text())
            self.assertEqual(config["label_names"], list(COLORS))
            self.assertEqual(config["preprocessing"]["crop_fraction"], 1)
            self.assertEqual(self.predicted(f"model{number}", *(f"kept/val/{name}/0.png" for name in COLORS)),
                             list(COLORS))
        self.write("fewer", {"green": 120, "red": 240})
        self.assertEqual(self.top1("model0", "--data", "fewer"), 1)
        self.cachet("import", "model0/model.safetensors", "--model", "vit_tiny_patch16_224", *model, "-o", "again")
        again = json.loads((self.folder / "again/config.json").read_text())
        self.assertEqual(again["label_names"], list(COLORS))
        self.assertEqual(again["preprocessing"]["crop_fraction"], 1)
        self.cachet(*importing, "--set", 'data.class_names=["a", "b", "c"]', "-o", "renamed")
        self.assertIn('class_names = ["a", "b", "c"]', (self.folder / "renamed/recipe.toml").read_text())
        self.cachet(*importing, "--set", "model.classes=4", "-o", "four")
        self.assertNotIn("class_names", (self.folder / "four/recipe.toml").read_text(), "its head starts fresh")
        self.assertIn("lists 2 classes, but the model has 3",
                      self.refused(*importing, "--set", 'data.class_names=["a", "b"]', "-o", "no", cwd=self.folder,
                                   lines=4))

    def test_a_recipe_on_top_of_a_model_folder_may_have_others(self):
        model = [word for key in ("image_size=8", "patch_size=4", "embed_dim=16", "depth=1", "num_heads=2", "classes=3")
                 for word in ("--set", f"model.{key}")]
        self.cachet("export", "run", "-o", "weights.safetensors")
        self.cachet("import", "weights.safetensors", "--model", "vit_tiny_patch16_224", *model, "-o", "model", "--set",
                    'data.class_names=["blue", "green", "red"]')
        self.write("two", {"pink": 0, "grey": 150})
        words = ("--run", "tuned", "--progress", "none", "--set", "data.root=two", "--set", "train.batch_size=6", "--set",
                 "train.epochs=1")
        (self.folder / "tuned.toml").write_text('base = "model/recipe.toml"\n[data]\nclasses = 2\n[train]\ninit = "model"\n')
        self.assertIn("set class_names = []", self.refused("train", "tuned.toml", *words, cwd=self.folder, lines=4))
        self.cachet("train", "tuned.toml", *words, "--set", "data.class_names=[]", "--set", "model.classes=2")
        self.assertIn('class_names = ["grey", "pink"]', (self.folder / "tuned/resolved.toml").read_text())

    def test_names_that_are_not_text_stay_out_of_the_recipe(self):
        strange = bytes(self.folder) + b"/images/train/\xff"
        os.rename(bytes(self.folder) + b"/images/train/blue", strange)
        os.rename(bytes(self.folder) + b"/images/val/blue", bytes(self.folder) + b"/images/val/\xff")
        self.cachet("train", "tiny.toml", "--run", "strange", "--progress", "none")
        self.assertNotIn("class_names", (self.folder / "strange/resolved.toml").read_text())
        self.assertIn("matched by position", self.cachet("eval", "strange").stderr)


if __name__ == "__main__":
    command.main()
