"""Samples of the evaluation data that are also in the training data: `data ls` and dry runs count them, whatever the task is."""
import json
import os
import shutil

import command
from runs import RECIPE, SMALL_ENCODER, detector_recipe, shapes_command, write_images, write_png, write_reviews

FOLDERS = RECIPE.replace('kind = "idx"', 'kind = "class_folders"\nskip_other_files = true\n[data.resize]\nimage_size = 8').replace(
    "classes = 4", "").replace('[data]', '[data]\nclasses = 2').replace('"images"', '"folders"')


class SharedData(command.FolderTest):
    def listed(self, kind, root):
        """What `data ls` prints about a folder: an object, and its remarks in lines."""
        found, = (data for data in self.json_of("data", "ls", kind, "--json", cwd=self.folder)["data"] if data["root"] == root)
        table = self.cachet("data", "ls", kind, "--wide").stdout
        return found, [line for line in table.splitlines() if line.startswith(root + ": ")]

    def dry_run(self, recipe, *words):
        """What a dry run prints about it."""
        text = self.cachet("train", recipe, "--dry-run", *words).stdout
        return [line.removeprefix("shared data").strip() for line in text.splitlines() if line.startswith("shared data")]

    def own_recipe(self, name, text):
        recipes = self.folder / "recipes"
        recipes.mkdir(exist_ok=True)
        (recipes / f"{name}.toml").write_text(text)
        os.environ["CACHET_RECIPES"] = str(recipes)
        self.addCleanup(os.environ.pop, "CACHET_RECIPES", None)

    def test_images_in_files_of_many(self):
        write_images(self.folder / "images")
        self.own_recipe("tiny", RECIPE)
        line = "all 33 test images are also in the training data (the first: image 0 = image 0)"
        found, remarks = self.listed("idx", "images")
        self.assertEqual(found["overlaps"], [{"split": "test", "samples": 33, "shared": 33,
                                              "first": {"evaluation": "image 0", "training": "image 0"}}])
        self.assertEqual(found["passed_over"], 0)
        self.assertEqual(remarks, ["images: " + line])
        self.assertEqual(self.dry_run("tiny"), [line])
        pixels = self.folder / "images/t10k-images-idx3-ubyte"
        pixels.write_bytes(pixels.read_bytes()[:16] + bytes(255 - byte for byte in pixels.read_bytes()[16:]))
        self.assertEqual(self.listed("idx", "images")[0]["overlaps"], [{"split": "test", "samples": 33, "shared": 0}])
        self.assertEqual(self.dry_run("tiny"), [])

    def test_images_in_class_folders_and_files_among_them(self):
        root = self.folder / "folders"
        for split, count in (("train", 12), ("val", 5)):
            for shade, name in ((20, "dark"), (200, "light")):
                (root / split / name).mkdir(parents=True)
                for number in range(count):
                    write_png(root / split / name / f"{number}.png", 8, 8, bytes([shade + number + (40 if split == "val" else 0)] * 64))
        shutil.copy(root / "train/dark/3.png", root / "val/dark/copied.png")
        shutil.copy(root / "train/dark/3.png", root / "val/light/copied.png")
        for name in ("train/.DS_Store", "train/dark/._0.png", "val/light/notes.txt"):
            (root / name).write_text("no image")
        self.own_recipe("pictures", FOLDERS)
        found, remarks = self.listed("class_folders", "folders")
        self.assertEqual([(split["split"], split["samples"], split["shared"]) for split in found["overlaps"]], [("test", 12, 2)])
        self.assertEqual(found["passed_over"], 3)
        same = f"(the first: {found['found']}/val/dark/copied.png = {found['found']}/train/dark/3.png)"
        line = f"2 of 12 test images are also in the training data {same}"
        others = (f"3 files were skipped (2 hidden, 1 not JPEG or PNG files of a class). The first one is "
                  f"{found['found']}/train/.DS_Store")
        self.assertEqual(remarks, [f"folders: {line}", f"folders: {others}"])
        self.assertEqual(self.dry_run("pictures"), [line])
        done = self.cachet("train", "pictures", "--run", "run", "--progress", "none", "--set", "train.limit=1 steps")
        for said in (done.stderr, (self.folder / "run/log.txt").read_text()):
            self.assertIn(f"2 hidden files were skipped. The first one is {found['found']}/train/.DS_Store", said)
            self.assertIn(f"1 file that is not a JPEG or PNG file of a class was skipped: {found['found']}/val/light/notes.txt", said)

    def test_scenes(self):
        self.cachet(*shapes_command(8, 5, 64))
        self.own_recipe("scenes", detector_recipe("retinanet_pvt_tiny_fpn", 64, "[train]\nepochs = 1\nbatch_size = 2\nthreads = 1\n"))
        self.assertEqual(self.listed("COCO instances", "shapes")[0]["overlaps"], [{"split": "validation", "samples": 5, "shared": 0}])
        annotations = json.loads((self.folder / "shapes/annotations/instances_val.json").read_text())
        training = json.loads((self.folder / "shapes/annotations/instances_train.json").read_text())
        copied, original = (f"shapes/images/{split}/{said['images'][place]['file_name']}"
                            for split, said, place in (("val", annotations, 3), ("train", training, 6)))
        shutil.copy(self.folder / original, self.folder / copied)
        found, remarks = self.listed("COCO instances", "shapes")
        parent = found["found"].removesuffix("shapes")
        self.assertEqual(found["overlaps"], [{"split": "validation", "samples": 5, "shared": 1,
                                              "first": {"evaluation": parent + copied, "training": parent + original}}])
        line = f"1 of 5 validation images is also in the training data (the first: {parent}{copied} = {parent}{original})"
        self.assertEqual(remarks, ["shapes: " + line])
        self.assertEqual(self.dry_run("scenes"), [line])
        self.assertIn("all 8 validation images are", self.dry_run("scenes", "--set", "data.evaluate_on=training")[0])

    def test_reviews(self):
        root = self.folder / "aclImdb"
        write_reviews(root)
        (root / "train/pos/0_5.txt").write_text("caf\u00e9 noir")
        (root / "test/neg/2_5.txt").write_text("cafe\u0301  noir\n")
        (root / "test/neg/._2_5.txt").write_text("caf\u00e9 noir")
        found, remarks = self.listed("imdb", "aclImdb")
        tested, = (split for split in found["overlaps"] if split["split"] == "test")
        self.assertEqual(tested, {"split": "test", "samples": 10, "shared": 1,
                                  "first": {"evaluation": found["found"] + "/test/neg/2_5.txt",
                                            "training": found["found"] + "/train/pos/0_5.txt"}})
        self.assertEqual(found["passed_over"], 1)
        self.assertEqual(remarks[1:], [f"aclImdb: 1 hidden file was skipped: {found['found']}/test/neg/._2_5.txt"])
        line, = self.dry_run("lra_text", *SMALL_ENCODER)
        self.assertTrue(line.startswith("1 of 10 test sequences is also in the training data (the first: "), line)

    def test_expressions(self):
        self.cachet("data", "listops", "-o", "listops", "--train", "60", "--validation", "12", "--test", "6", "--longer-than", "20",
                    "--shorter-than", "60", "--progress", "none")
        validation, training = (self.folder / f"listops/basic_{split}.tsv" for split in ("val", "train"))
        self.assertEqual([split["shared"] for split in self.listed("listops", "listops")[0]["overlaps"]], [0, 0])
        rows = training.read_text().splitlines(keepends=True)
        validation.write_text(validation.read_text() + rows[5] + rows[5] + rows[2])
        (self.folder / "listops/basic_test.tsv").unlink()
        found, remarks = self.listed("listops", "listops")
        line = (f"3 of 15 validation sequences are also in the training data (the first: {found['found']}/basic_val.tsv:14 = "
                f"{found['found']}/basic_train.tsv:6)")
        self.assertEqual(remarks, ["listops: " + line])
        self.assertEqual(self.dry_run("lra_listops", *SMALL_ENCODER, "--set", "data.max_length=40"), [line])

    def test_pairs_of_sentences(self):
        root = self.folder / "multi30k"
        root.mkdir()
        for split, first, count in (("train", 0, 40), ("val", 40, 9), ("test_2016_flickr", 60, 7)):
            for language in ("de", "en"):
                (root / f"{split}.{language}").write_text("".join(f"{language} {number}\n" for number in range(first, first + count)))
        self.assertEqual(self.listed("sentences*", "multi30k")[1], [])
        lines = (root / "val.en").read_text().splitlines()
        (root / "val.en").write_text("\n".join(lines[:4] + ["en  7 "] + lines[5:]) + "\n")
        found, remarks = self.listed("sentences*", "multi30k")
        self.assertEqual([(split["split"], split["samples"], split["shared"]) for split in found["overlaps"]],
                         [("validation", 9, 1), ("test", 7, 0)])
        self.assertEqual(remarks, [f"multi30k: 1 of 9 validation pairs is also in the training data (the first: {found['found']}/val.de:5 "
                                   f"= {found['found']}/train.de:8)"])

    def test_lines_of_a_text(self):
        root = self.folder / "wikitext-2"
        root.mkdir()
        line = " ".join(f"word{number}" for number in range(12))
        (root / "wiki.train.tokens").write_text(f" = Heading = \n\n {line} \n other {line}\n")
        (root / "wiki.valid.tokens").write_text(f" = Heading = \n\n another {line}\n {line} \n")
        (root / "wiki.test.tokens").write_text(" = Heading = \n\n short\n")
        found, remarks = self.listed("text", "wikitext-2")
        self.assertEqual([(split["split"], split["samples"], split["shared"]) for split in found["overlaps"]],
                         [("validation", 2, 1), ("test", 0, 0)])
        said = (f"1 of 2 validation lines is also in the training data (the first: {found['found']}/wiki.valid.tokens:4 = "
                f"{found['found']}/wiki.train.tokens:3)")
        self.assertEqual(remarks, ["wikitext-2: " + said])
        self.cachet("data", "words", "wikitext-2", "-o", "words.txt")
        self.cachet("data", "tokens", "wikitext-2", "--vocabulary-file", "words.txt", "-o", "wikitext-2", "--progress", "none")
        (root / "wiki.train.tokens").unlink()
        found, remarks = self.listed("text", "wikitext-2")
        self.assertEqual((found["overlaps"], found["not_compared"]), ([], "the texts exist only as files of tokens"))
        self.assertEqual(remarks, ["wikitext-2: not compared: the texts exist only as files of tokens"])

    def test_a_quick_list_looks_into_no_folder(self):
        (self.folder / "aclImdb").mkdir()
        found, remarks = self.listed("imdb", "aclImdb")
        self.assertIn("/aclImdb/train/neg: there is no such folder", found["not_compared"])
        self.assertIsNone(found["passed_over"], "they were not counted")
        self.assertIn("not compared: ", remarks[0])
        quick, = self.json_of("data", "ls", "imdb", "--quick", "--json", cwd=self.folder)["data"]
        self.assertEqual(list(quick), ["kind", "root", "found", "files", "recipes"])
        self.assertNotIn("not compared", self.cachet("data", "ls", "imdb", "--quick").stdout)


if __name__ == "__main__":
    command.main()
