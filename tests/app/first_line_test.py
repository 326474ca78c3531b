"""From an empty folder with a user's data to a trained model, in one line."""
import base64
import itertools
import json
import os
import pathlib
import random
import re
import tomllib

import command
from runs import shapes_command, write_png

SMALL_VIT = ["--set", "model.patch_size=8", "--set", "model.embed_dim=16", "--set", "model.depth=1", "--set", "model.num_heads=2",
             "--set", "train.threads=1", "--image-size", "16", "--batch-size", "4"]
SMALL_TEXT = ["--set", "model.embed_dim=16", "--set", "model.depth=1", "--set", "model.num_heads=2", "--set", "model.mlp_dim=16",
              "--set", "train.threads=1"]
SMALL_TRANSLATION = [word for setting in ("embed_dim=16", "encoder_depth=1", "decoder_depth=1", "encoder_heads=2", "decoder_heads=2",
                                          "encoder_mlp_dim=16", "decoder_mlp_dim=16") for word in ("--set", f"model.{setting}")]
SHORT = ["--progress", "none", "--set", "train.limit=2 steps"]


def write_class(folder, count, shade=0):
    folder.mkdir(parents=True)
    for number in range(count):
        write_png(folder / f"{number:03}.PNG", 20, 24, bytes((shade + number + 3 * index) % 256 for index in range(480)))


def sentences(count):
    draw = random.Random(1)
    who, does, what = "the cat,the dog,a bird".split(","), "sees,hears,finds".split(","), "a tree,the river,some bread".split(",")
    return [f"{draw.choice(who)} {draw.choice(does)} {draw.choice(what)} {number}" for number in range(count)]


class FirstLine(command.FolderTest):
    def made(self, run):
        """The recipe that a run keeps, as it was made, and as it was resolved."""
        return tuple(tomllib.loads((self.folder / run / f"{name}.toml").read_text()) for name in ("recipe", "resolved"))

    def trained(self, model, data, *words):
        done = self.cachet("train", model, "--data", data, "--run", "run", *SHORT, *words)
        self.assertTrue((self.folder / "run/report.html").is_file())
        return done.stderr

    # Images

    def write_photos(self, *splits, counts=(9, 6), root="photos"):
        for split in splits or (".",):
            for number, (name, count) in enumerate(zip(("ant", "bee", "cat"), counts)):
                write_class(self.folder / root / split / name, count, 90 * number)

    def test_class_folders_without_splits(self):
        self.write_photos(counts=(20, 12, 1))
        pictures = json.loads((command.ROOT / "tests/data/pillow_images.json").read_text())
        (self.folder / "photos/ant/HOLIDAY.JPG").write_bytes(base64.b64decode(pictures["jpeg"][0]["file"]))
        (self.folder / "photos/ant/notes.txt").write_text("not an image")
        said = self.trained("vit_tiny_patch16_224", "photos", *SMALL_VIT)
        self.assertIn("class folders: 3 classes, 34 training images, of which 3 are for validation, no test images\n", said)
        self.assertIn("note: the class 'cat' has too few samples for the validation data, so the results do not measure this class\n", said)
        self.assertNotIn("chosen", said, "the user set both values")
        chosen = self.cachet("train", "vit_tiny_patch16_224", "--data", "photos", "--print").stderr
        self.assertRegex(chosen, r"chosen: images of \d+ pixels from random crops, batch size \d+\n")
        chosen = self.cachet("train", "vit_tiny_patch16_224", "--data", "photos", "--print", "--image-size", "16").stderr
        self.assertRegex(chosen, r"chosen: batch size \d+\n")
        made, resolved = self.made("run")
        self.assertEqual((made["data"]["classes"], made["data"]["orientation"], made["data"]["validation_fraction"]), (3, "apply", 0.1))
        self.assertEqual(resolved["data"]["class_names"], ["ant", "bee", "cat"])
        self.assertEqual((resolved["train"]["batch_size"], resolved["data"]["resize"]["image_size"]), (4, 16))
        kept = json.loads((self.folder / "run/run.json").read_text())
        self.assertRegex(json.dumps(kept), r"validation indices")
        evaluated = self.json_of("eval", "run", "--json", cwd=self.folder)
        self.assertEqual((evaluated["images"], evaluated["split"]), (3, "validation"))
        self.write_photos("old", counts=(2, 3, 1), root="elsewhere")
        others = self.json_of("eval", "run", "--data", "elsewhere/old", "--json", cwd=self.folder)
        self.assertEqual((others["images"], others["split"]), (6, "test"), "all of other data are evaluated")
        self.assertIn("photos/ant/notes.txt is a file, and a folder is needed; it should contain a folder of JPEG or PNG files for each class.",
                      self.refused("eval", "run", "--data", "photos/ant/notes.txt", code=1, cwd=self.folder))
        (self.folder / "copy.toml").write_text(self.cachet("train", "vit_tiny_patch16_224", "--data", "photos", *SMALL_VIT, "--print").stdout)
        self.cachet("train", "copy.toml", *SHORT, "--run", "copy")
        self.assertEqual(self.made("copy")[1]["data"], resolved["data"])
        # Both recipes of the run have the options of its command line.
        for name in ("recipe", "resolved"):
            (self.folder / "edited.toml").write_text((self.folder / f"run/{name}.toml").read_text())
            again = tomllib.loads(self.cachet("train", "edited.toml", "--print").stdout)
            for table in ("task", "model", "train", "optimizer", "schedule"):
                self.assertEqual(again[table], resolved[table], name)
            self.assertEqual(again["data"]["resize"], resolved["data"]["resize"], name)
        self.assertTrue((self.folder / "run/recipe.toml").read_text().startswith("# Made by `cachet train vit_tiny_patch16_224 --data photos`"))

    def test_class_folders_with_splits(self):
        self.write_photos("train", "val")
        said = self.trained("vit_tiny_patch16_224", "photos", *SMALL_VIT)
        self.assertIn("class folders: 2 classes, 15 training images, of which 2 are for validation, 15 test images (val)\n", said)
        evaluated = self.json_of("eval", "run", "--json", cwd=self.folder)
        self.assertEqual((evaluated["images"], evaluated["split"], evaluated["chose_the_checkpoint"]), (15, "test", False))
        self.write_photos("train", "valid", "test", counts=(4, 3), root="three")
        said = self.cachet("train", "vit_tiny_patch16_224", "--data", "three", "--run", "third", *SHORT, *SMALL_VIT).stderr
        self.assertIn("2 classes, 7 training images, 7 validation images, 7 test images (test)\n", said)
        self.assertEqual(self.made("third")[0]["data"]["test_folder"], "test")
        self.assertNotIn("validation_fraction", self.made("third")[0]["data"])

    def test_options_are_those_of_their_keys(self):
        self.write_photos()
        start = ["train", "vit_tiny_patch16_224", "--data", "photos"]
        values = tomllib.loads(self.cachet(*start, "--print", "--epochs", "3", "--batch-size", "2", "--lr", "0.01", "--image-size", "32", "--init",
                                           "weights", "--cache", "grc", "--norm", "un", "--attention", "elu", "--freeze").stdout)
        self.assertEqual((values["train"]["epochs"], values["train"]["batch_size"], values["train"]["init"]), (3, 2, "weights"))
        self.assertEqual((values["optimizer"]["lr"], values["optimizer"]["backbone_rate"]), (0.01, 0))
        self.assertEqual([values["model"][table]["kind"] for table in ("cache", "norm", "attention")], ["grc", "un", "elu"])
        self.assertEqual(values["model"]["norm"]["warmup"], "10 %")
        self.assertEqual(values["data"]["resize"]["image_size"], 32)
        recipe = tomllib.loads(self.cachet("train", "demo_plain", "--print", "--data", "photos", "--epochs", "2", "--norm", "rms").stdout)
        self.assertEqual((recipe["data"]["root"], recipe["train"]["epochs"], recipe["model"]["norm"]["kind"]), ("photos", 2, "rms"))

    def test_the_schedule_counts_steps_and_not_their_parts(self):
        self.write_photos(counts=(60, 50, 40))
        (self.folder / "pairs.tsv").write_text("".join(f"{line}\t{line.upper()}\n" for line in sentences(600)))
        for model, data, *ways in (
                ("vit_tiny_patch16_224", "photos", ["train.batch_size=16"], ["train.batch_size=8", "train.accumulate=2"],
                 ["train.batch_size=2", "train.accumulate=8", 'train.state="first"']),
                ("transformer_translation_small", "pairs.tsv", ["data.max_tokens=1024"], ["data.max_tokens=512", "train.accumulate=2"]),
                ("transformer_translation_small", "pairs.tsv", ["data.max_samples=8"], ["data.max_samples=4", "train.accumulate=2"])):
            made = [tomllib.loads(self.cachet("train", model, "--data", data, "--print", "--epochs", "20",
                                              *(word for setting in way for word in ("--set", setting))).stdout) for way in ways]
            for other in made[1:]:
                self.assertEqual(other["schedule"], made[0]["schedule"])
                self.assertEqual(other["train"]["log_every"], made[0]["train"]["log_every"])

    def test_a_batch_with_more_samples_than_the_data(self):
        self.write_photos(counts=(9, 8, 7))
        start = ["train", "vit_tiny_patch16_224", "--data", "photos", *SMALL_VIT[:-2], *SHORT]
        for size, words, left in ((500, (), "21 training images that remain after data.validation_fraction"),
                                  (500, ("--set", "data.limit=12"), "12 training images that remain after data.validation_fraction and data.limit"),
                                  (10**7, ("--dry-run",), "21 training images that remain after data.validation_fraction"),
                                  (10**7, (), "21 training images that remain after data.validation_fraction")):
            done = command.run(*start, *words, "--batch-size", str(size), cwd=self.folder, variables={"CACHET_MEMORY_LIMIT": "1G"})
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"train.batch_size {size} is more than the {left}; lower train.batch_size\n", done.stderr)

    def test_only_the_head_is_trained(self):
        self.write_photos()
        said = self.trained("vit_tiny_patch16_224", "photos", *SMALL_VIT, "--freeze", "--set", "train.keep=9", "--set", "train.checkpoint_every=1 steps")
        first, last = (self.folder / f"run/checkpoints/step-0000000{step}/model.safetensors" for step in (1, 2))

        def tensors(path):
            data = path.read_bytes()
            size = int.from_bytes(data[:8], "little")
            return {name: data[8 + size + each["data_offsets"][0]:8 + size + each["data_offsets"][1]]
                    for name, each in json.loads(data[8:8 + size]).items() if name != "__metadata__"}

        before, after = tensors(first), tensors(last)
        changed = {name for name in before if before[name] != after[name]}
        self.assertEqual({name.partition(".")[0] for name in changed}, {"head"})
        note = "note: --freeze trains only the head, and the rest of the model has random weights"
        self.assertIn(note, said)
        resumed = ("train", "vit_tiny_patch16_224", "--data", "photos", "--freeze", "--print", *SMALL_VIT, "--init", "run")
        self.assertNotIn(note, self.cachet(*resumed).stderr)
        self.assertIn(note, self.cachet("train", "demo_plain", "--freeze", "--print").stderr)

    def test_images_that_cannot_be_used(self):
        self.write_photos("train", "val")
        start = ["train", "vit_tiny_patch16_224", "--data", "photos", *SMALL_VIT, *SHORT]
        (self.folder / "photos/train/cow").mkdir()
        self.assertIn("photos/train/cow: the class has no JPEG or PNG files", self.refused(*start, code=1, cwd=self.folder))
        (self.folder / "photos/train/cow").rmdir()
        (self.folder / "photos/train/ant/broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 broken")
        done = command.run(*start, "--set", "train.limit=1 epoch", cwd=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("photos/train/ant/broken.jpg", done.stderr)
        for number in range(3):
            (self.folder / f"photos/train/ant/none{number}.jpg").write_bytes(b"<html>")
        self.assertIn("photos/train/ant/none0.jpg: this is not an image; only JPEG and PNG are supported. 2 other images cannot be read, either; "
                      "repair or remove these files", self.refused(*start, "--run", "none", code=1, cwd=self.folder))
        self.assertFalse((self.folder / "none").exists())
        for path in (self.folder / "photos/train/ant").glob("*.jpg"):
            path.unlink()
        self.cachet(*start, "--run", "run")
        refusal = self.refused(*start, "--run", "run", code=1, cwd=self.folder, lines=6)
        self.assertIn("run: exists already; resume it with --resume", refusal)
        self.assertIn("photos: exists already and is not a run; choose another name",
                      self.refused(*start, "--run", "photos", code=1, cwd=self.folder, lines=6))
        self.cachet(*start, "--run", "run", "--resume", "--set", "train.limit=3 steps")
        self.cachet("train", "run", "--resume", "--set", "train.limit=4 steps", "--progress", "none")

    # Detection

    def test_coco_folder(self):
        self.cachet(*shapes_command(12, 4, 64, "--progress", "none"))
        small = [word for setting in ("embed_dims=[8, 16, 16, 32]", "depths=[1, 1, 1, 1]", "num_heads=[1, 2, 2, 4]", "mlp_ratios=[1, 1, 1, 1]",
                                      "neck.out_channels=8") for word in ("--set", f"model.{setting}")]
        said = self.trained("retinanet_pvt_tiny_fpn", "shapes", *small, "--set", "train.threads=1")
        self.assertIn("COCO folder: 6 classes, 12 training images (a tenth of each class, but at least one image, is for validation), 4 test images\n", said)
        made = self.made("run")[0]
        self.assertEqual((made["data"]["classes"], made["data"]["transform"]["long_side"]), (6, 64))
        self.assertEqual(self.json_of("eval", "run", "--json", cwd=self.folder)["split"], "test")

    def test_coco_folder_of_one_file_and_of_three(self):
        self.cachet(*shapes_command(12, 4, 64, "--progress", "none"))
        whole = json.loads((self.folder / "shapes/annotations/instances_train.json").read_text())

        def write(name, *places):
            kept = whole["images"][slice(*places)]
            ids = {each["id"] for each in kept}
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(whole | {"images": kept, "annotations": [each for each in whole["annotations"] if each["image_id"] in ids]}))
            return kept

        def printed(data):
            done = self.cachet("train", "mask_rcnn_pvt_tiny_fpn", "--data", data, "--print")
            return done.stderr, tomllib.loads(done.stdout)["data"]

        write("one/labels.json", 12)
        (self.folder / "one/images").symlink_to(self.folder / "shapes/images/train")
        said, data = printed("one")
        self.assertIn("COCO folder: 6 classes, 12 training images (a tenth of each class, but at least one image, is for validation), no test images\n", said)
        self.assertEqual((data["train_annotations"], data["validation_annotations"], data["validation_fraction"]), ("labels.json", "labels.json", 0.1))
        for split, places in (("train", (0, 7)), ("valid", (7, 10)), ("test", (10, 12))):
            for each in write(f"three/{split}/_annotations.coco.json", *places):
                (self.folder / f"three/{split}" / each["file_name"]).write_bytes((self.folder / "shapes/images/train" / each["file_name"]).read_bytes())
        said, data = printed("three")
        self.assertIn("COCO folder: 6 classes, 7 training images, 3 validation images, 2 test images\n", said)
        self.assertEqual((data["train_images"], data["validation_images"], data["test_images"]), ("train", "valid", "test"))
        self.assertNotIn("validation_fraction", (self.cachet("train", "mask_rcnn_pvt_tiny_fpn", "--data", "three", "--print").stdout))

    def test_a_resume_holds_out_the_same_images(self):
        self.write_photos(counts=(20, 12))
        self.trained("vit_tiny_patch16_224", "photos", *SMALL_VIT)
        for resumed in (["run"], ["vit_tiny_patch16_224", "--data", "photos", *SMALL_VIT, "--run", "run"]):
            said = self.refused("train", *resumed, "--resume", "--set", "data.subset_seed=7", "--set", "train.limit=3 steps", cwd=self.folder, code=1,
                                lines=8)
            self.assertIn("data.subset_seed", said)

    def test_the_name_of_a_folder_writes_no_recipe(self):
        folder = self.folder / "two\nclasses = 9"
        for name in ("a", "b"):
            (folder / name).mkdir(parents=True)
            for index in range(3):
                write_png(folder / name / f"{index}.png", 8, 8, bytes([40 * index]) * 64)
        made = tomllib.loads(self.cachet("train", "vit_tiny_patch16_224", "--data", str(folder), "--print").stdout)
        self.assertEqual(made["data"]["classes"], 2)

    # Texts

    def test_text(self):
        lines = sentences(400)
        (self.folder / "stories.txt").write_text("\n".join(lines) + "\n")
        said = self.trained("transformer_xl_small", "stories.txt", *SMALL_TEXT)
        self.assertIn("text: 324 lines to train with, 36 to validate with, 40 to test with\n", said)
        self.assertIn("a vocabulary of 257 bytes, batch size ", said)
        # After so short a training, bytes can be drawn that are not UTF-8. JSON replaces them.
        written = self.json_of("generate", "run", "--prompt", "the cat", "--tokens", "4", "--json", cwd=self.folder)
        self.assertEqual(written["prompt"], "the cat")
        self.assertEqual(self.json_of("eval", "run", "--json", cwd=self.folder)["split"], "test")

    def test_a_folder_of_texts_in_two_encodings(self):
        (self.folder / "stories").mkdir()
        draw = random.Random(2)
        words = [f"w{draw.randint(0, 999)}" for _ in range(500)]
        text = "\n".join(" ".join(draw.choice(words) for _ in range(12)) for _ in range(2500))
        (self.folder / "stories/a.txt").write_text("naïve café\n" + text + "\n", encoding="utf-8")
        (self.folder / "stories/b.txt").write_bytes("naïve café – déjà vu\n".encode("cp1252") * 5)
        said = self.trained("causal_transformer_small", "stories", *SMALL_TEXT)
        self.assertIn("1 of 2 files is not UTF-8 and was read as Windows-1252: stories/b.txt:1 and 4 other lines\n", said)
        self.assertIn("with a subword model\n", said)
        made = self.made("run")[0]
        self.assertEqual(made["data"]["tokens"], "subwords")
        prepared = pathlib.Path(made["data"]["root"])
        self.assertEqual((prepared / "test.txt").read_text().splitlines()[-1], "naïve café – déjà vu")
        self.assertEqual((prepared / "train.txt").read_text().splitlines()[0], "naïve café")

    def test_pairs_of_two_files_and_of_one(self):
        pairs = [(line, line.upper()) for line in sentences(300)]
        (self.folder / "pairs").mkdir()
        (self.folder / "pairs/corpus.en").write_text("".join(f"{one}\n" for one, _ in pairs))
        (self.folder / "pairs/corpus.xx").write_text("".join(f"{other}\n" for _, other in pairs))
        said = self.trained("transformer_translation_small", "pairs", *SMALL_TRANSLATION, "--set", "train.threads=1", "--batch-size", "8")
        self.assertRegex(said, r"pairs of sentences \(en to xx\): \d+ pairs to train with, \d+ to validate with, \d+ to test with\n")
        self.assertEqual(self.made("run")[1]["data"]["max_samples"], 8)
        self.assertTrue(self.cachet("translate", "run", stdin="the cat sees a tree 1\n").stdout)
        self.assertRegex(said, r"chosen: a vocabulary of \d+ subwords\n", "the batch is the user's")
        rows = [*pairs, *pairs[:7]]
        (self.folder / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in rows))
        for _ in range(2):  # the second time, the texts are prepared already
            said = self.cachet("train", "transformer_translation_small", "--data", "pairs.tsv", "--print").stderr
            self.assertIn("pairs of sentences (source to target): ", said)
            self.assertIn(f"left out: {len(rows) - len(set(rows))} pairs with an empty side, or equal to another pair\n", said)
            self.assertRegex(said, r"chosen: a vocabulary of \d+ subwords, batches of \d+ tokens\n")
        self.assertIn("the data could also be read as labelled texts, but transformer_translation_small is a translation model", said)
        self.assertIn("give the folder that contains both files",
                      self.refused("train", "transformer_translation_small", "--data", "pairs/corpus.xx", cwd=self.folder))
        (self.folder / "pairs/corpus.xx").write_bytes("".join(f"{other} é\n" for _, other in pairs).encode("latin-1"))
        said = self.cachet("train", "transformer_translation_small", "--data", "pairs", "--print").stderr
        self.assertIn("1 of 2 files is not UTF-8 and was read as Windows-1252: pairs/corpus.xx:1 and 299 other lines\n", said)
        (self.folder / "pairs/corpus.xx").write_text("only one\n")
        self.assertIn("corpus.en has 300 lines, but ",
                      self.refused("train", "transformer_translation_small", "--data", "pairs", code=1, cwd=self.folder))

    def test_a_short_text_has_as_small_a_vocabulary_as_it_needs(self):
        animals, colours = ("dog", "cat", "bird"), ("red", "blue", "old")
        for name, lines in (("words", list(zip(animals, ("hund", "katze", "vogel")))),
                            ("sentences", [(f"the {one} is {other}", f"{other} is the {one}") for one in animals for other in colours]),
                            ("letters", [("a", "b"), ("b", "a"), ("a a", "b b"), ("a b", "b a"), ("b b", "a a"), ("b a", "a b")])):
            with self.subTest(text=name):
                (self.folder / f"{name}.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in lines))
                said = self.cachet("train", "transformer_translation_small", "--data", f"{name}.tsv", "--print").stderr
                size = re.search(r"chosen: a vocabulary of (\d+) subwords", said)
                self.assertTrue(size, said)
                self.assertLess(int(size[1]), 200)

    def test_labelled_texts(self):
        rows = [(("good", "bad", "odd")[number % 3], f"{line} {'well' if number % 3 else 'ill'}") for number, line in enumerate(sentences(90))]
        (self.folder / "reviews.tsv").write_text("".join(f"{label}\t{text}\n" for label, text in rows))
        said = self.trained("lra_small", "reviews.tsv", *SMALL_TEXT)
        for options, chosen in ((), r"the first \d+ bytes of a text, batch size \d+"), (("--batch-size", "5"), r"the first \d+ bytes of a text"):
            self.assertRegex(self.cachet("train", "lra_small", "--data", "reviews.tsv", "--print", *options).stderr, f"chosen: {chosen}\n")
        self.assertIn("labelled texts: 3 classes, 72 texts to train with, 9 to validate with, 9 to test with", said)
        self.assertEqual(self.made("run")[1]["data"]["class_names"], ["bad", "good", "odd"])
        self.assertEqual(self.json_of("eval", "run", "--json", cwd=self.folder)["split"], "test")
        answer = json.loads(self.cachet("predict", "run", "the cat sees a tree").stdout)
        self.assertIn(answer["top"][0]["class"], ("bad", "good", "odd"))
        done = self.cachet("train", "lra_text", "--data", "reviews.tsv", "--print")
        self.assertIn("note: lra_text is the name of both a recipe and a model; the command trains the model, because --data is a file and not a folder\n", done.stderr)
        self.assertEqual(tomllib.loads(done.stdout)["data"]["kind"], "texts")
        (self.folder / "rare.tsv").write_text((self.folder / "reviews.tsv").read_text() + "rare\tone text\n")
        said = self.cachet("train", "lra_small", "--data", "rare.tsv", "--print").stderr
        for split in ("validation", "test"):
            self.assertIn(f"note: the class 'rare' has too few samples for the {split} data, so the results do not measure this class\n", said)
        for split, (label, text), number in itertools.product(("train", "test"), rows[:3], range(4)):
            folder = self.folder / "texts" / split / label
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.txt").write_text(f"{text}\n{number}\n")
        said = self.cachet("train", "lra_small", "--data", "texts", "--print").stderr
        self.assertIn("labelled texts: 3 classes, 9 texts to train with, 3 to validate with, 12 to test with", said)

    # What cannot be meant

    def test_words_that_name_two_things_or_none(self):
        self.write_photos()
        note = self.cachet("train", "lra_text", "--print").stderr
        self.assertEqual(note, "note: lra_text is the name of both a recipe and a model; the command trains the recipe\n")
        self.assertIn("vit_tiny_patch16_224 is a model; give the data to train the model on", self.refused("train", "vit_tiny_patch16_224"))
        refusal = self.refused("train", "transformer_xl_small", "--data", "photos", cwd=self.folder)
        self.assertIn("photos contains class folders of images, but transformer_xl_small is a language model, which learns from text", refusal)
        refusal = self.refused("train", "vit_tinny", "--data", "photos", cwd=self.folder)
        self.assertRegex(refusal, r"there is no model and no recipe 'vit_tinny' \(did you mean 'vit_tiny_.*`cachet models` lists the models, and `cachet ")
        self.assertIn("(did you mean 'demo_plain'", self.refused("train", "demo_plian", "--data", "photos", cwd=self.folder))
        self.assertIn("vit_tiny_patch16_224-photos made by Cachet:", self.refused("train", "vit_tiny_patch16_224", "--data", "photos", "--set",
                                                                                "model.embed_dim=50", cwd=self.folder, lines=3))
        self.assertIn("there is no run and no recipe 'my-run'; `cachet runs` lists the runs", self.refused("train", "my-run", "--resume"))
        (self.folder / "loose").mkdir()
        write_png(self.folder / "loose/1.png", 8, 8, bytes(64))
        (self.folder / "loose/README.md").write_text("my photos\n")
        self.assertIn("loose: has images, but no folders of classes; put the images of each class into a folder",
                      self.refused("train", "vit_tiny_patch16_224", "--data", "loose", code=1, cwd=self.folder))
        self.assertIn("nowhere: there is no such folder or file", self.refused("train", "lra_small", "--data", "nowhere", code=1, cwd=self.folder))
        (self.folder / "empty").mkdir()
        self.assertIn("empty: contains no data that Cachet recognises", self.refused("train", "lra_small", "--data", "empty", code=1, cwd=self.folder))
        (self.folder / "vit_tiny_patch16_224.toml").write_text('base = "demo_plain"\n')
        printed = self.cachet("train", "vit_tiny_patch16_224", "--print").stdout
        self.assertIn("data/fashion-mnist", printed, "a path comes before the name of a model")


if __name__ == "__main__":
    os.environ.pop("CACHET_DATA", None)
    command.main()
