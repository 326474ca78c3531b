"""A detector from shapes to pictures: trained, evaluated, killed on the way, and shown images."""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

import command
from runs import FEW_REGIONS, detector_recipe, shapes_command, write_png

RECIPE = detector_recipe("mask_rcnn_pvt_tiny_fpn", 64, FEW_REGIONS + """[model.roi_head.mask_head]
conv_out_channels = 8
[model.cache]
kind = "grc"
[train]
epochs = 2
batch_size = 4
threads = 1
log_every = "1 steps"
checkpoint_every = "2 steps"
save_minutes = 0
[optimizer]
lr = 0.002
[schedule]
kind = "step"
milestones = ["1 epoch"]
warmup = "3 steps"
""")
VALIDATION = 40


def lines_of(path):
    return path.read_text().splitlines() if path.exists() else []


def renumber(path):
    """Ids of categories that are not the classes' numbers, as COCO's are not."""
    instances = json.loads(path.read_text())
    for category in instances["categories"]:
        category["id"] *= 10
    for annotation in instances["annotations"]:
        annotation["category_id"] *= 10
    path.write_text(json.dumps(instances))


class Parts(command.CommandTest):
    def test_micro_batches_and_processes_train_as_one_batch(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        (folder / "tiny.toml").write_text(detector_recipe("retinanet_pvt_tiny_fpn", 64, """[model.bbox_head]
feat_channels = 8
stacked_convs = 1
[train]
threads = 1
device = "cpu"
log_every = "1 steps"
limit = "3 steps"
[optimizer]
kind = "sgd"
lr = 0.01
[schedule]
kind = "constant"
"""))
        self.succeed(*shapes_command(6, 2, 64), cwd=folder)
        # A process whose part of a batch is this picture alone has no image.
        (folder / "shapes/images/train/000003.png").write_bytes(b"")
        steps, same = {}, ["--set", "model.stochastic_depth=0.0", "--set", "data.images_without_objects=keep", "--set",
                           "data.on_bad_image=skip"]
        for run, batch, accumulate, *processes in (("whole", 6, 1), ("cut", 2, 3), ("both", 2, 3, "--processes", "2")):
            self.succeed("train", "tiny.toml", "--run", run, "--progress", "none", "--set", f"train.batch_size={batch}", "--set",
                         f"train.accumulate={accumulate}", *same, *processes, cwd=folder)
            events = [json.loads(line) for line in lines_of(folder / run / "metrics.jsonl")]
            steps[run] = [event["metrics"] for event in events if event["kind"] == "step"]
            self.assertEqual(len(steps[run]), 3)
        for run in ("cut", "both"):
            for expected, metrics in zip(steps["whole"], steps[run], strict=True):
                self.assertEqual(expected.keys(), metrics.keys())
                for name, value in expected.items():
                    self.assertAlmostEqual(metrics[name], value, delta=1e-4 * abs(value), msg=f"{run}: {name}")


class Detection(command.CommandTest):
    """One run serves all tests: none of them changes it."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        (cls.folder / "tiny.toml").write_text(RECIPE)
        for words in (shapes_command(24, VALIDATION, 64, "--crowds", "0.2"),
                      ["train", "tiny.toml", "--run", "run", "--progress", "none"]):
            done = command.run(*words, cwd=cls.folder)
            assert done.returncode == 0, done.stdout + done.stderr
            if words[0] == "data":
                for split in ("train", "val"):
                    renumber(cls.folder / f"shapes/annotations/instances_{split}.json")

    def cachet(self, *words, **options):
        return self.succeed(*words, cwd=self.folder, **options)

    def killed(self, words, is_there):
        """Starts a command and kills it once that is there."""
        process = subprocess.Popen([command.COMMAND, *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 100
        while not is_there():
            self.assertIsNone(process.poll(), "it ended before it was to be killed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def test_a_training_that_was_killed_twice_is_the_whole_one(self):
        train = ["train", "tiny.toml", "--run", "cut", "--progress", "none"]
        log, kept = self.folder / "cut/metrics.jsonl", self.folder / "cut/evaluation.jsonl"
        self.killed(train, lambda: len(lines_of(log)) >= 3)
        self.killed(train + ["--resume"], lambda: len(lines_of(kept)) >= 3)
        held = lines_of(kept)
        self.assertLess(len(held), VALIDATION)
        self.cachet(*train, "--resume")
        self.assertFalse(kept.exists(), "an evaluation that came to its end leaves no records")
        events = [[{key: value for key, value in json.loads(line).items() if key != "machine"}
                   for line in lines_of(self.folder / run / "metrics.jsonl")] for run in ("run", "cut")]
        self.assertEqual(events[0], events[1])
        for name in ("model", "optimizer"):
            self.assertEqual(*((self.folder / run / f"checkpoints/step-00000012/{name}.safetensors").read_bytes()
                               for run in ("run", "cut")))
        self.assertEqual(*((self.folder / run / "evaluation.json").read_bytes() for run in ("run", "cut")))

    def test_an_evaluation_that_was_killed_is_the_whole_one(self):
        whole = self.cachet("eval", "run", "-o", "whole").stdout
        kept = self.folder / "parts/predictions.jsonl"
        self.killed(["eval", "run", "-o", "parts"], lambda: len(lines_of(kept)) >= 3)
        self.assertLess(len(lines_of(kept)), VALIDATION)
        rest = self.cachet("eval", "run", "-o", "parts")
        self.assertIn(f" of {VALIDATION} predictions; resuming", rest.stderr)
        self.assertEqual(rest.stdout, whole.replace("whole/", "parts/"))
        for name in ("predictions.jsonl", "bbox.json", "segm.json"):
            self.assertEqual((self.folder / "whole" / name).read_bytes(), (self.folder / "parts" / name).read_bytes())
        self.assertEqual(whole.splitlines()[:-2], self.cachet("eval", "run").stdout.splitlines())
        self.assertEqual(self.json_of("eval", "run", "-o", "whole", "--json", cwd=self.folder)["metrics"],
                         self.json_of("eval", "run", "--json", cwd=self.folder)["metrics"])

    def test_the_table_has_the_numbers_of_boxes_and_masks(self):
        self.assertRegex((self.folder / "run/log.txt").read_text(),
                         r"Z (epoch|step) [0-9/]+  loss [0-9.]+  \|  validation box AP [0-9.]+ ± [0-9.]+ "
                         r"\(best .*\)  mask AP [0-9.]+ ± [0-9.]+  [0-9.]+ images/s")
        lines = self.cachet("eval", "run").stdout.splitlines()
        self.assertIn(f"{VALIDATION} validation images", lines[0])
        self.assertEqual([lines[1], lines[14]], ["IoU metric: bbox", "IoU metric: segm"])
        self.assertEqual(len(lines), 28)
        metrics = self.json_of("eval", "run", "--json", cwd=self.folder)["metrics"]
        self.assertEqual(lines[2], " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = "
                         f"{metrics['box_ap']:.3f}")
        self.assertTrue(lines[26].startswith(" Average Recall     (AR) @[ IoU=0.50:0.95 | area= large | maxDets=100 ] ="))
        self.assertEqual(lines[27], "AP and its standard error over the images: " + ", ".join(
            f"{kind} {metrics[name]:.3f} ± {metrics[name + '_stderr']:.3f}" for kind, name in (("bbox", "box_ap"), ("segm", "mask_ap"))))

    def test_images_of_the_evaluation_are_looked_at_before_the_first_step(self):
        shutil.copytree(self.folder / "shapes", self.folder / "torn")
        images = self.folder / "torn/images/val"
        (images / "000030.png").write_bytes(b"")
        (images / "000040.png").unlink()
        words = ["train", "tiny.toml", "--set", "data.root=torn", "--set", "train.limit=2 steps"]
        counted = f"2 of the {VALIDATION} files of the evaluation cannot be read"
        first = f"; the first: {images}/000030.png: the file is empty"
        for more in (["--dry-run"], ["--run", "not-begun"]):
            done = command.run(*words, *more, cwd=self.folder)
            self.assertEqual(done.returncode, 1, more)
            self.assertIn(counted + first + '; put them back, or set data.on_bad_image = "skip" to continue without such files',
                          done.stderr)
        self.assertFalse((self.folder / "not-begun").exists())
        skip = ["--set", 'data.on_bad_image="skip"']
        self.assertIn(counted + '. The evaluation continues without them (data.on_bad_image = "skip")' + first,
                      self.cachet(*words, *skip, "--dry-run").stderr)
        done = self.cachet(*words, *skip, "--run", "skips", "--progress", "none")
        log = (self.folder / "skips/log.txt").read_text()
        for said in (done.stderr, log):
            self.assertIn(counted + '. The evaluation continues without them (data.on_bad_image = "skip")' + first, said)
        # By the rule of reading: as many as the evaluation then goes without.
        self.assertIn(f"2 of {VALIDATION} images could not be read, and their objects count as missed", done.stderr)
        self.assertIn("000030.png: the file is empty", done.stderr.split("count as missed")[1], "why they could not be read")
        metrics = self.json_of("eval", "skips", "--json", cwd=self.folder)["metrics"]
        self.assertEqual(metrics["unreadable_images"], 2)
        for image in (self.folder / images).glob("*.png"):
            image.write_bytes(b"")
        self.assertIn(f"none of the {VALIDATION} images of the evaluation could be read; the first: ",
                      self.refused("eval", "skips", cwd=self.folder, code=1, lines=4))

    def test_images_without_annotations_are_answered_for_submission(self):
        instances = json.loads((self.folder / "shapes/annotations/instances_val.json").read_text())
        del instances["annotations"]
        (self.folder / "shapes/annotations/image_info.json").write_text(json.dumps(instances))
        words = ["run", "--set", "data.validation_annotations=annotations/image_info.json"]
        done = self.cachet("eval", *words, "-o", "submission")
        self.assertIn("image_info.json: has no 'annotations', so AP cannot be measured", done.stderr)
        self.assertIn("maxDets=100 ] = -1.000", done.stdout)
        self.cachet("eval", "run", "-o", "measured")
        for name in ("bbox.json", "segm.json"):
            self.assertEqual(json.loads((self.folder / "submission" / name).read_text()),
                             json.loads((self.folder / "measured" / name).read_text()))
        metrics = self.json_of("eval", *words, "--json", cwd=self.folder)["metrics"]
        self.assertEqual(metrics, {"box_ap": None, "mask_ap": None})
        # With a list of annotations that is empty, a model is trained, and no evaluation is the best.
        instances["annotations"] = []
        (self.folder / "shapes/annotations/empty.json").write_text(json.dumps(instances))
        trained = self.cachet("train", "tiny.toml", "--run", "unmeasured", "--progress", "none", "--set",
                              "train.limit=1 steps", "--set", "data.validation_annotations=annotations/empty.json")
        self.assertIn("box AP not measured", trained.stdout)
        answers = [json.loads(line) for line in self.cachet("predict", *words).stdout.splitlines()]
        self.assertEqual([answer["image_id"] for answer in answers], [image["id"] for image in instances["images"]])
        self.assertIn("data.validation_annotations must name a file with annotations",
                      self.refused("train", "tiny.toml", "--run", "none", "--set",
                                   "data.validation_annotations=annotations/image_info.json", cwd=self.folder, code=1))

    def test_a_run_of_before_the_key_goes_on_as_it_was_trained(self):
        self.cachet("train", "tiny.toml", "--run", "old", "--progress", "none", "--set", "train.limit=2 steps")
        run = json.loads((self.folder / "old/run.json").read_text())
        self.assertEqual(run["values"].pop("data.orientation"), '"apply"')
        run["defaults"].remove("data.orientation")
        (self.folder / "old/run.json").write_text(json.dumps(run))
        resolved = (self.folder / "old/resolved.toml").read_text()
        (self.folder / "old/resolved.toml").write_text(
            "".join(line for line in resolved.splitlines(True) if not line.startswith("orientation = ")))
        for checkpoint in (self.folder / "old/checkpoints").iterdir():  # they have the digest of a recipe with the key
            shutil.rmtree(checkpoint) if checkpoint.is_dir() else checkpoint.unlink()
        said = self.refused("train", "tiny.toml", "--run", "old", "--resume", "--set", 'data.orientation="apply"',
                            cwd=self.folder, code=1, lines=3)
        self.assertIn('data.orientation: (absent) -> "apply"', said)
        for steps in (3, 4):  # a resumed run is resumed again
            self.cachet("train", "tiny.toml", "--run", "old", "--resume", "--progress", "none", "--set",
                        f"train.limit={steps} steps")
            self.assertNotIn("orientation", (self.folder / "old/resolved.toml").read_text())
        self.assertNotIn("data.orientation", json.loads((self.folder / "old/run.json").read_text())["set"])
        self.assertNotIn("data.orientation = ", (self.folder / "old/report.html").read_text())

    def test_results_are_written_only_where_they_belong(self):
        self.cachet("eval", "run", "-o", "mine")
        last = "run/checkpoints/step-00000002"
        if (self.folder / last).exists():
            self.assertIn("another model", self.refused("eval", last, "-o", "mine", cwd=self.folder, code=1))
        self.assertIn("its contents are not an output of this command", self.refused("eval", "run", "-o", "shapes", cwd=self.folder))
        self.assertIn("-o writes the results of an evaluation into files",
                      self.refused("eval", "run", "--text", "tiny.toml", "-o", "else", cwd=self.folder))
        self.assertFalse((self.folder / "else").exists())

    def test_names_may_be_as_long_as_names_are(self):
        images = self.folder / "long"
        (images / "more").mkdir(parents=True)
        names = ["n" * 250 + ".png", "n" * 251 + ".png", "n" * 251 + ".jpg", "\u00e4" * 125 + ".jpeg"]
        for name in names:
            shutil.copy(self.folder / "shapes/images/val/000001.png", images / name)
        shutil.copy(self.folder / "shapes/images/val/000002.png", images / "more" / names[1])
        done = self.cachet("predict", "run", "long", "-o", "seen-long")
        self.assertEqual(done.stdout, "seen-long: 5 pictures, results.json, images.json\n")
        pictures = sorted(path.name for path in (self.folder / "seen-long/pictures").iterdir())
        self.assertEqual(len(pictures), 5)
        self.assertTrue(all(name.endswith(".png") for name in pictures), pictures)

    def test_a_folder_of_pictures_has_one_writer(self):
        (self.folder / "one").mkdir()
        shutil.copy(self.folder / "shapes/images/val/000001.png", self.folder / "one")
        self.cachet("predict", "run", "one", "-o", "seen-one")
        held = {path: path.read_bytes() for path in (self.folder / "seen-one").rglob("*") if path.is_file()}
        file = os.open(self.folder / "seen-one", os.O_RDONLY)
        self.addCleanup(os.close, file)
        fcntl.flock(file, fcntl.LOCK_EX)
        for overwrite in ([], ["--overwrite"]):
            said = self.refused("predict", "run", "one", "-o", "seen-one", *overwrite, cwd=self.folder, code=1)
            self.assertIn("seen-one: another process is writing to this folder", said)
        self.assertEqual({path: path.read_bytes() for path in held}, held)

    def test_a_set_of_other_categories(self):
        self.assertIn('class_names = ["disc", "square"', (self.folder / "run/resolved.toml").read_text())
        other = self.folder / "other"
        shutil.copytree(self.folder / "shapes", other)
        file = other / "annotations/instances_val.json"
        file.write_text(file.read_text().replace('"star"', '"moon"'))
        said = self.refused("eval", "run", "--data", "other", cwd=self.folder, code=1)
        self.assertIn("has objects of category 'moon', which is not a class of the model", said)
        without = self.cachet("eval", "run", "--data", "other", "--set", "data.other_categories=leave_out")
        self.assertIn("left out: the category is not a class of the model", without.stderr)

    def test_a_set_that_lacks_a_category(self):
        other = self.folder / "fewer"
        shutil.copytree(self.folder / "shapes", other)
        file = other / "annotations/instances_val.json"
        annotations = json.loads(file.read_text())
        star, = [category["id"] for category in annotations["categories"] if category["name"] == "star"]
        annotations["categories"] = [each for each in annotations["categories"] if each["id"] != star][::-1]
        annotations["annotations"] = [each for each in annotations["annotations"] if each["category_id"] != star]
        file.write_text(json.dumps(annotations))
        fewer = self.json_of("eval", "run", "--data", "fewer", "--json", cwd=self.folder)["metrics"]
        # The same objects in a file that knows the category, in the order of the training.
        annotations["categories"] = [{"id": star, "name": "star"}, *annotations["categories"]][::-1]
        file.write_text(json.dumps(annotations))
        self.assertEqual(self.json_of("eval", "run", "--data", "fewer", "--json", cwd=self.folder)["metrics"], fewer)

    def test_pictures_of_images_and_of_those_that_cannot_be_read(self):
        images = self.folder / "photographs"
        (images / "more").mkdir(parents=True)
        for number in range(1, 4):
            shutil.copy(self.folder / f"shapes/images/val/00000{number}.png", images)
        shutil.copy(self.folder / "shapes/images/val/000004.png", images / "more/000001.png")
        (images / "000002.png").write_bytes((images / "000002.png").read_bytes()[:60])
        done = command.run("predict", "run", "photographs", "-o", "seen", "--least-score", "0.05", cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("skipped: photographs/000002.png: ", done.stderr)
        self.assertIn("1 of 4 images could not be read; seen/predictions.jsonl lists the reasons", done.stderr)
        self.assertEqual(done.stdout, "seen: 3 pictures, results.json, images.json\n")
        self.assertEqual(sorted(path.name for path in (self.folder / "seen/pictures").iterdir()),
                         ["000001-3.png", "000001.png", "000003.png"])
        records = [json.loads(line) for line in lines_of(self.folder / "seen/predictions.jsonl")]
        self.assertEqual([record["index"] for record in records], [0, 1, 2, 3])
        self.assertIn("photographs/000002.png", records[1]["error"])
        results = json.loads((self.folder / "seen/results.json").read_text())
        self.assertEqual(len(results), sum(len(record.get("detections", [])) for record in records))
        for result in results:
            self.assertEqual(set(result), {"image_id", "bbox", "score", "category_id", "segmentation"})
            self.assertIn(result["image_id"], (0, 2, 3))  # two names are the same number
            self.assertIn(result["category_id"], (10, 20, 30, 40, 50, 60))

        images = json.loads((self.folder / "seen/images.json").read_text())
        self.assertEqual(images["images"], [{"id": record["index"], "file_name": record["file"]} for record in records
                                            if "error" not in record])
        self.assertEqual([category["id"] for category in images["categories"]], [10, 20, 30, 40, 50, 60])
        held = {path: path.read_bytes() for path in (self.folder / "seen").rglob("*.*") if path.is_file()}
        self.assertIn("other data or options", self.refused("predict", "run", "photographs", "-o", "seen", cwd=self.folder, code=1))
        again = command.run("predict", "run", "photographs", "-o", "seen", "--least-score", "0.05", cwd=self.folder)
        self.assertIn("holds 4 of 4 predictions", again.stderr)
        self.assertEqual(held, {path: path.read_bytes() for path in (self.folder / "seen").rglob("*.*") if path.is_file()})
        self.assertIn("give each sample a class", self.refused("predict", "run", "photographs", "--logits", cwd=self.folder))
        single = self.cachet("predict", "run", "photographs/000003.png").stdout
        self.assertEqual(json.loads(single)["detections"], records[2]["detections"])
        self.cachet("predict", "run", "photographs/000003.png", "-o", "seen", "--overwrite")
        self.assertEqual([path.name for path in (self.folder / "seen/pictures").iterdir()], ["000003.png"])
        self.assertEqual(json.loads((self.folder / "seen/images.json").read_text())["images"],
                         [{"id": 3, "file_name": "photographs/000003.png"}])

    def test_results_of_given_images_have_the_ids_of_their_set(self):
        """Those of a set whose file names are its ids, as COCO's are, can be measured with the annotations of the set."""
        self.cachet("predict", "run", "shapes/images/val", "-o", "given-ids", "--least-score", "0.05")
        results, images = (json.loads((self.folder / "given-ids" / name).read_text()) for name in ("results.json", "images.json"))
        of_set = json.loads((self.folder / "shapes/annotations/instances_val.json").read_text())["images"]
        names = {image["id"]: image["file_name"] for image in of_set}
        self.assertEqual({image["id"]: pathlib.Path(image["file_name"]).name for image in images["images"]}, names)
        self.assertLessEqual({result["image_id"] for result in results}, set(names))
        self.assertGreater(len(results), 0)

    def test_images_are_answered_as_well_where_the_data_are_not(self):
        for name, words in (("with", []), ("without", ["--set", "data.root=nowhere"])):
            self.cachet("predict", "run", "shapes/images/val", "-o", name, "--least-score", "0.05", *words)
        self.assertEqual((self.folder / "with/results.json").read_bytes(), (self.folder / "without/results.json").read_bytes())

    def test_a_folder_for_pictures_must_be_free(self):
        image = "shapes/images/val/000001.png"
        for words, said in ((["predict", "run", image, "-o", "run"], "its contents are not an output of this command"),
                            (["predict", "run", image, "-o", "tiny.toml"], "must end in .jsonl"),
                            (["predict", "run", "shapes/images/val", "-o", "shapes/images/val/seen"],
                             "is in the folder shapes/images/val, which is an input of this command"),
                            (["predict", "run", "-o", "all"], "-o FOLDER works only with images that you give on the command line")):
            self.assertIn(said, self.refused(*words, cwd=self.folder))
        self.assertFalse((self.folder / "all").exists())
        self.assertFalse((self.folder / "shapes/images/val/seen").exists())

    def test_weights_leave_under_mmdetections_names_and_come_back(self):
        plain = RECIPE.replace('kind = "grc"', 'kind = "none"')
        (self.folder / "plain.toml").write_text(plain)
        self.cachet("train", "plain.toml", "--run", "plain", "--progress", "none", "--set", "train.limit=1 steps")
        self.cachet("export", "plain", "--names", "mmdetection", "-o", "theirs.safetensors")
        settings, table = [], ""
        for line in plain.partition("[train]")[0].splitlines():
            if line.startswith("["):
                table = line.strip("[]")
            elif " = " in line and table != "task" and not line.startswith(("root", "workers", "name")):
                settings += ["--set", f"{table}.{line.replace(' = ', '=')}"]
        importing = ["import", "theirs.safetensors", "--model", "mask_rcnn_pvt_tiny_fpn", *settings]
        report = self.json_of(*importing, "-o", "imported", "--json", cwd=self.folder)
        self.assertEqual((report["names"], report["missing"], report["left_over"], report["fresh"]),
                         ("mmdetection", [], [], []))
        self.assertEqual((report["preprocessing"]["long_side"], report["preprocessing"]["mean"]), (64, [0.485, 0.456, 0.406]))
        config = json.loads((self.folder / "imported/config.json").read_text())
        self.assertEqual((config["num_classes"], config["input_size"]), (6, [3, 64, 64]))
        # What comes back is what left, and finds what the run finds, its classes numbers where no set names them.
        self.cachet("export", "imported", "--names", "mmdetection", "-o", "again.safetensors")
        sent, back = ((self.folder / name).read_bytes() for name in ("theirs.safetensors", "again.safetensors"))
        tensors = [data[8 + struct.unpack("<Q", data[:8])[0]:] for data in (sent, back)]
        self.assertEqual(*tensors)
        self.assertIn(b"backbone.block1.0.attn.q.weight", sent)
        metrics = [self.json_of("eval", *words, "--json", cwd=self.folder)["metrics"]
                   for words in (["plain"], ["imported", "--data", "shapes"])]
        self.assertEqual(*metrics)
        image = "shapes/images/val/000001.png"
        named, numbered, with_data = (json.loads(self.cachet("predict", *words, image).stdout)["detections"] for words in (
            ["plain"], ["imported"], ["imported", "--data", "shapes"]))
        self.assertEqual(named, with_data)
        self.assertEqual([each["bbox"] for each in named], [each["bbox"] for each in numbered])
        self.assertTrue(all(each["class"] == f"class {each['label']}" for each in numbered))
        # Another number of classes starts the layers that have rows for each.
        other = [word.replace("data.classes=6", "model.classes=3") for word in importing]
        said = self.cachet(*other, "-o", "three").stdout
        self.assertIn("new, because the number of classes differs, 6: roi_head.bbox_head.fc_cls.bias", said)
        self.assertIn("must be equal to data.classes (6); leave the key out",
                      self.refused(*importing, "--set", "model.classes=3", "-o", "x", cwd=self.folder, code=2))

    def test_an_export_is_the_rewritten_model(self):
        report = self.json_of("export", "run", "-o", "deployed", "--engine", "torch", "--check", "--json", cwd=self.folder)
        self.assertEqual({place["kind"] for place in report["rewritten"] if not place["left"]}, {"cache", "mixing share"})
        self.assertLess(report["largest_difference"], 1e-5)
        self.assertIn(" boxes on 16 validation images", report["compared_on"])
        self.assertAlmostEqual(*report["box_ap"], places=4)
        metrics = [self.json_of("eval", run, "--json", cwd=self.folder)["metrics"] for run in ("run", "deployed")]
        self.assertAlmostEqual(metrics[0]["box_ap"], metrics[1]["box_ap"], places=4)
        self.cachet("predict", "deployed", "shapes/images/val/000001.png", "-o", "drawn")
        self.assertTrue((self.folder / "drawn/pictures/000001.png").exists())
        self.cachet("bench", "deployed", "--mode", "infer", "--seconds", "0.05")
        # Cast by whoever runs it, and without data checked against the model on noise.
        self.cachet("export", "run", "-o", "narrow", "--engine", "torch", "--precision", "bf16")
        self.cachet("predict", "narrow", "shapes/images/val/000001.png")
        blind = self.json_of("export", "run", "-o", "blind", "--engine", "torch", "--set", 'data.root="nowhere"', "--json",
                             cwd=self.folder)
        self.assertIn(" boxes on 16 random images, none of them from the data", blind["compared_on"])
        for engine in ("openvino", "onnx"):
            said = self.refused("export", "run", "-o", "graph", "--engine", engine, cwd=self.folder, code=1)
            self.assertIn("is not a fixed graph", said)
            self.assertFalse((self.folder / "graph").exists())

    def test_very_large_images(self):
        write_png(self.folder / "wide.png", 12000, 20, bytes(20 * 12000))
        self.cachet("predict", "run", "wide.png", "-o", "widely")
        self.assertEqual(struct.unpack(">2I", (self.folder / "widely/pictures/wide.png").read_bytes()[16:24]),
                         (12000, 20))
        png = bytearray((self.folder / "wide.png").read_bytes())
        png[16:24] = struct.pack(">2I", 12000, 9000)  # 108 million pixels, as its header states
        png[29:33] = struct.pack(">I", zlib.crc32(bytes(png[12:29])))
        (self.folder / "huge.png").write_bytes(png)
        said = self.refused("predict", "run", "huge.png", cwd=self.folder, code=1)
        self.assertIn("huge.png", said)
        self.assertIn("pixels", said)


if __name__ == "__main__":
    command.main()
