"""Tar shards: making them, training on them, kills and processes, damaged and hostile files, the speed of the loader."""
import io
import os
import random
import signal
import tarfile
import time

import command
from image_files import RGB, png
from kills_test import Bits

CLASSES = ("ant", "bee", "cat", "dog")
TRAINING, VALIDATION = 12, 3  # images of each class
RECIPE = """
[data]
kind = "shards"
root = "shards"
classes = 4
window = 20
workers = 2
[data.augmentation]
flip = 0.5
[data.resize]
image_size = 16
[model]
name = "vit_tiny_patch16_224"
patch_size = 8
embed_dim = 16
depth = 1
num_heads = 2
[train]
epochs = 40
batch_size = 8
threads = 1
limit = "30 steps"
evaluate_every = "7 steps"
log_every = "1 steps"
checkpoint_every = "3 steps"
keep = 3
[schedule]
kind = "constant"
"""


def write_class_folders(root):
    for split, count in (("train", TRAINING), ("val", VALIDATION)):
        for label, name in enumerate(CLASSES):
            folder = root / split / name
            folder.mkdir(parents=True)
            for i in range(count):
                seed = label * 100 + i + (50 if split == "val" else 0)
                side = 12 + i
                (folder / f"{i}.png").write_bytes(png(side, 20, RGB, 8, lambda k: (k * (seed + 3) // 3 + 60 * label) % 256))


def member(name, content=b"", kind=tarfile.REGTYPE, target=""):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), kind, target
    return info, content


def write_tar(path, members):
    with tarfile.open(path, "w") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))


class Shards(Bits):
    def setUp(self):
        command.FolderTest.setUp(self)
        self.chance = random.Random(20261130)
        write_class_folders(self.folder / "images")
        (self.folder / "shards.toml").write_text(RECIPE)

    def make(self, *words):
        return self.json_of("data", "shards", "images", "-o", "shards", "--json", *words, cwd=self.folder)

    def train(self, run, *words):
        self.cachet("train", "shards.toml", "--run", run, "--resume", "--progress", "none", *words)

    def samples(self, pattern):
        """The image and the class of each sample of the shards, as Python's tarfile reads them."""
        found = []
        for path in sorted((self.folder / "shards").glob(pattern)):
            with tarfile.open(path) as archive:
                contents = {info.name: archive.extractfile(info).read() for info in archive.getmembers()}
            for name, content in contents.items():
                if name.endswith(".png"):
                    found.append((content, int(contents[name[:-4] + ".cls"])))
        return found

    def test_shards_have_all_images_of_the_folders(self):
        said = self.make()
        self.assertEqual(said["classes"], 4)
        self.assertEqual([(one["split"], one["images"], one["shards"]) for one in said["splits"]], [("train", 48, 1), ("val", 12, 1)])
        self.assertEqual((self.folder / "shards/classes.txt").read_text().split(), list(CLASSES))
        for split, pattern in (("train", "train-*.tar"), ("val", "val-*.tar")):
            expected = [(path.read_bytes(), CLASSES.index(path.parent.name))
                        for path in sorted((self.folder / "images" / split).rglob("*.png"))]
            self.assertEqual(sorted(self.samples(pattern)), sorted(expected))
        shuffled = self.samples("train-*.tar")
        self.make("--overwrite", "--in-order")
        in_order = self.samples("train-*.tar")
        self.assertEqual([label for _, label in in_order], sorted(label for _, label in in_order))
        self.assertNotEqual(shuffled, in_order)
        self.make("--overwrite")
        self.assertEqual(self.samples("train-*.tar"), shuffled)
        self.make("--overwrite", "--shuffle", "1", "--splits", "train")
        self.assertNotEqual(self.samples("train-*.tar"), shuffled)
        self.assertEqual([path.name for path in (self.folder / "shards").glob("val*")], [])

    def test_refusals_of_the_maker(self):
        self.make()
        self.assertIn("shards exists; give another path for -o, or replace it with --overwrite",
                      self.refused("data", "shards", "images", "-o", "shards", cwd=self.folder))
        self.assertIn("must name train, val or test", self.refused("data", "shards", "images", "-o", "x", "--splits", "training",
                                                                   cwd=self.folder))
        self.assertIn("there is no such folder", self.refused("data", "shards", "images", "-o", "x", "--splits", "test", code=1,
                                                              cwd=self.folder))
        (self.folder / "images/train/ant/list.txt").write_text("x")
        self.assertIn("list.txt: is not a .jpg, .jpeg, .jpe, .jfif or .png file; remove such files from the class folders, or give "
                      "--skip-other-files", self.refused("data", "shards", "images", "-o", "x", code=1, cwd=self.folder))
        said = self.json_of("data", "shards", "images", "-o", "x", "--skip-other-files", "--json", cwd=self.folder)
        self.assertEqual(said["splits"][0]["skipped_files"], 1)

    def test_overwrite_replaces_only_shards(self):
        make = ("data", "shards", "images", "-o", "shards", "--overwrite")
        self.make()
        self.train("run", "--set", "train.limit=1 steps")  # writes the indices
        self.assertTrue((self.folder / "shards/train-000000.tar.index").exists())
        self.cachet(*make)
        self.assertFalse((self.folder / "shards/train-000000.tar.index").exists())
        for name in ("photos/a.jpg", "notes.md", ".git/HEAD", "train-000000.tar.bak"):
            path = self.folder / "shards" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("mine")
            said = self.refused(*make, cwd=self.folder)
            self.assertIn(f"shards has '{name.split('/')[0]}', which this command does not write", said)
            self.assertEqual(path.read_text(), "mine")
            path.unlink()
            if path.parent.name != "shards":
                path.parent.rmdir()
        self.cachet(*make)
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "classes.txt").write_text("a\nb\n")
        (mine / "book.txt").write_text("mine")
        said = self.refused("data", "shards", "images", "-o", "mine", "--overwrite", cwd=self.folder)
        self.assertIn("mine has 'book.txt'", said)
        self.assertEqual((mine / "book.txt").read_text(), "mine")

    def test_class_folders_without_splits(self):
        said = self.json_of("data", "shards", "images/train", "-o", "shards", "--json", cwd=self.folder)
        self.assertEqual([(one["split"], one["images"]) for one in said["splits"]], [("train", 48)])
        self.train("run", "--set", "data.validation_shards=train-*.tar", "--set", "data.validation_fraction=0.25", "--set",
                   "train.limit=3 steps")

    def test_training_equals_that_on_the_folders(self):
        """With one window for all samples and one shard, in the order of the folders, only the order of an epoch differs. A batch of all
        images has all samples in both, so their sums differ by rounding alone."""
        self.make("--in-order")
        (self.folder / "folders.toml").write_text(
            RECIPE.replace('"shards"\nroot = "shards"', '"class_folders"\nroot = "images"').replace("window = 20\n", ""))
        loss = {}
        for name in ("shards", "folders"):
            self.cachet("train", f"{name}.toml", "--run", f"one-{name}", "--progress", "none", "--set", "train.batch_size=48", "--set",
                        "train.limit=2 steps", "--set", "data.augmentation.flip=0", "--set", "data.augmentation.crop=centre")
            evaluated = self.json_of("eval", f"one-{name}", "--json", cwd=self.folder)
            loss[name] = evaluated["metrics"]["loss"]
        self.assertAlmostEqual(loss["shards"], loss["folders"], delta=1e-4)

    def test_a_killed_run_resumes_bit_for_bit(self):
        self.make()
        start = time.monotonic()
        self.train("whole")
        seconds = time.monotonic() - start
        for run in ("killed0", "killed1"):
            kills = 0
            while True:
                process = self.start(["train", "shards.toml", "--run", run, "--resume", "--progress", "none"])
                if kills < 3:
                    time.sleep(self.chance.uniform(0.3, 0.9) * seconds)
                    process.kill()
                    kills += 1
                errors = process.communicate(timeout=300)[1]
                self.assertIn(process.returncode, (0, -signal.SIGKILL), errors)
                if process.returncode == 0:
                    break
            self.assert_same_runs("whole", run, f"{run} after {kills} kills")

    def test_processes_divide_the_batches(self):
        """Sums over processes are rounded otherwise, so the losses are near each other and not equal."""
        self.make()
        losses = {}
        for processes in (1, 2, 3):
            run = f"run{processes}"
            self.cachet("train", "shards.toml", "--run", run, "--progress", "none", "--processes", str(processes), "--set",
                        "train.limit=5 steps")
            losses[processes] = [event["metrics"]["loss"] for event in self.events(run) if event["kind"] == "step"]
        self.assertEqual(len(losses[1]), 5)
        for processes in (2, 3):
            for one, other in zip(losses[1], losses[processes]):
                self.assertAlmostEqual(one, other, delta=1e-3)

    def test_damaged_images_stop_or_are_skipped(self):
        self.make()
        for name in ("train-000000.tar", "val-000000.tar"):
            path = self.folder / "shards" / name
            with tarfile.open(path) as archive:
                members = [(info, archive.extractfile(info).read()) for info in archive.getmembers()]
            damaged = members[4][0].name
            members[4] = (members[4][0], b"\0" * members[4][0].size)
            write_tar(path, members)
        said = self.refused("train", "shards.toml", "--run", "stopped", "--progress", "none", code=1, lines=3, cwd=self.folder)
        self.assertIn(f"train-000000.tar: {damaged}: ", said)
        self.assertIn('set data.on_bad_image = "skip"', said)
        self.train("skipped", "--set", "data.on_bad_image=skip")
        log = (self.folder / "skipped/log.txt").read_text()
        self.assertIn(f"shards/train-000000.tar: {damaged}: this is not an image", log)
        self.assertIn(f"shards/val-000000.tar: {damaged}: this is not an image", log)
        records = self.assert_evaluation_goes_on("skipped")
        self.assertEqual([record["index"] for record in records if "error" in record], [2])
        self.assertEqual(len(records), 12)

    def damage(self, name, damaged):
        """Overwrites the images of a shard whose position among the samples `damaged` accepts, and returns their names."""
        path = self.folder / "shards" / name
        with tarfile.open(path) as archive:
            members = [(info, archive.extractfile(info).read()) for info in archive.getmembers()]
        images = [i for i, (info, _) in enumerate(members) if not info.name.endswith(".cls")]
        chosen = [i for position, i in enumerate(images) if damaged(position)]
        for i in chosen:
            members[i] = (members[i][0], b"\0" * members[i][0].size)
        write_tar(path, members)
        return [members[i][0].name for i in chosen]

    def test_an_evaluation_counts_only_readable_images(self):
        self.make()
        self.damage("val-000000.tar", lambda position: position >= 3)
        self.train("run", "--set", "data.on_bad_image=skip", "--set", "train.limit=2 steps")
        said = self.json_of("eval", "run", "--json", cwd=self.folder)
        self.assertEqual((said["images"], said["of"], said["metrics"]["skipped"]), (3, 12, 9))
        top1, interval = said["metrics"]["top1"], said["intervals"]["top1"]
        n = 3  # Wilson's interval of one standard error
        middle, half = (top1 + 1 / (2 * n)) / (1 + 1 / n), (top1 * (1 - top1) / n + 1 / (4 * n * n)) ** 0.5 / (1 + 1 / n)
        self.assertAlmostEqual(interval["lower"], max(0, middle - half), delta=1e-3)
        self.assertAlmostEqual(interval["upper"], min(1, middle + half), delta=1e-3)
        self.assertIn("3 of 12 test images", self.cachet("eval", "run").stdout)
        self.damage("val-000000.tar", lambda position: True)
        said = self.refused("eval", "run", code=1, lines=13, cwd=self.folder)
        self.assertIn("none of the 12 test images could be read; repair or replace them", said)

    def test_training_without_a_readable_image_fails(self):
        self.make()
        self.damage("train-000000.tar", lambda position: True)
        said = self.refused("train", "shards.toml", "--run", "run", "--progress", "none", "--set", "data.on_bad_image=skip", code=1,
                            lines=15, cwd=self.folder)
        self.assertIn("epoch 1 trained on no image, because all images were skipped", said)
        self.assertIn("images skipped: 48 in all", said)
        self.assertIn("39 more lines like these are in", said)
        log = (self.folder / "run/log.txt").read_text()
        self.assertEqual(log.count("image skipped: "), 48)

    def test_all_processes_name_skipped_images(self):
        self.make()
        damaged = self.damage("train-000000.tar", lambda position: position % 5 == 0)
        self.train("run", "--processes", "2", "--set", "data.on_bad_image=skip", "--set", "train.limit=6 steps")
        log = (self.folder / "run/log.txt").read_text()
        for name in damaged:
            self.assertIn(f"shards/train-000000.tar: {name}: this is not an image", log)
        self.assertIn(f"images skipped: {len(damaged)} in all", log)

    def test_a_run_that_stopped_at_a_damaged_image_resumes(self):
        self.make()
        shard = self.folder / "shards/train-000000.tar"
        whole, times = shard.read_bytes(), shard.stat()
        self.train("run", "--set", "train.limit=6 steps")
        self.damage("train-000000.tar", lambda position: position == 7)
        os.utime(shard, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(len(whole), shard.stat().st_size)
        resume = ("train", "shards.toml", "--run", "run", "--resume", "--progress", "none")
        self.assertIn('set data.on_bad_image = "skip"', self.refused(*resume, code=1, lines=8, cwd=self.folder))
        self.cachet(*resume, "--set", "data.on_bad_image=skip")
        self.cachet("train", "run", "--resume", "--progress", "none")
        self.assertIn('data.on_bad_image: "stop" -> "skip"', (self.folder / "run/changes.txt").read_text())
        said = self.refused("train", "run", "--resume", "--set", "data.on_bad_image=stop", code=1, lines=4, cwd=self.folder)
        self.assertIn('data.on_bad_image: "skip" -> "stop"', said)

    def test_a_folder_of_shards_is_data(self):
        self.make()
        options = ("--data", "shards", "--set", "data.resize.image_size=16", "--set", "model.patch_size=8", "--set", "train.limit=1 steps",
                   "--set", "train.threads=1", "--progress", "none")
        for run in ("first", "second"):  # the second time with index files
            done = self.cachet("train", "vit_tiny_patch16_224", "--run", run, *options)
            self.assertIn("tar shards: 4 classes, 48 training images, of which 4 are for validation, 12 test images (val-*.tar)", done.stderr)
            recipe = (self.folder / run / "recipe.toml").read_text()
            self.assertIn('kind = "shards"', recipe)
            self.assertIn('train_shards = "train-*.tar"', recipe)

    def test_each_fault_is_one_line(self):
        image = png(8, 8, RGB, 8, lambda i: i * 7)
        good = [member("0.png", image), member("0.cls", b"1")]
        faults = {
            "has an absolute path": [*good, member("/etc/1.png", image)],
            "leads out of the archive": [*good, member("../1.png", image)],
            "is a link": [*good, member("1.png", kind=tarfile.SYMTYPE, target="/etc/passwd")],
            "is not a regular file": [*good, member("1.png", kind=tarfile.FIFOTYPE)],
            "has no class": [*good, member("1.png", image)],
            "has no image": [*good, member("1.cls", b"1")],
            "has the class 'cat'": [member("0.png", image), member("0.cls", b"cat")],
            "has the class 4, but there are 4 classes": [member("0.png", image), member("0.cls", b"4")],
            "is the second class": [*good, member("0.cls", b"1")],
            "members are not consecutive": [*good, member("1.png", image), member("1.cls", b"1"), *good],
            "is neither an image": [*good, member("0.json", b"{}")],
        }
        self.make()
        shard = self.folder / "shards/train-000000.tar"
        train = ("train", "shards.toml", "--run", "run", "--progress", "none")
        for fault, members in faults.items():
            write_tar(shard, members)
            said = self.refused(*train, code=1, lines=1, cwd=self.folder)
            self.assertIn("shards/train-000000.tar: ", said)
            self.assertIn(fault, said)
        write_tar(shard, good)
        whole = shard.read_bytes()
        for fault, content in (("so it may be truncated", whole.rstrip(b"\0") + bytes(-len(whole.rstrip(b"\0")) % 512)), ("but the archive ends after", whole[:600]), ("the file is empty", b""), ("is compressed with gzip", b"\x1f\x8b" + whole)):
            shard.write_bytes(content)
            self.assertIn(fault, self.refused(*train, code=1, lines=1, cwd=self.folder))
        shard.unlink()
        self.assertIn("no file matches this pattern", self.refused(*train, code=1, lines=1, cwd=self.folder))

    def test_the_loader_is_measured(self):
        self.make()
        for source in ("shards", "images", "shards.toml"):
            said = self.json_of("data", "bench", source, "--cores", "1,2", "--seconds", "0.2", "--json", cwd=self.folder)
            self.assertEqual([one["cores"] for one in said["cores"]], [1, 2])
            self.assertEqual(said["images"], 48)
            for one in said["cores"]:
                self.assertEqual(len(one["rounds"]), 7)
                self.assertLessEqual(0, one["lower_quartile"])
                self.assertLessEqual(one["lower_quartile"], one["images_per_second"])
                self.assertLessEqual(one["images_per_second"], one["upper_quartile"])
        table = self.cachet("data", "bench", "shards", "--cores", "1", "--seconds", "0.1", "--progress", "none").stdout
        self.assertIn("48 training images (shards)", table)
        self.assertIn("threads", table)
        self.damage("train-000000.tar", lambda position: position == 7)
        bench = ("data", "bench", "shards.toml", "--cores", "1", "--seconds", "0.7", "--progress", "none")
        self.assertIn("shards/train-000000.tar: ", self.refused(*bench, code=1, cwd=self.folder))
        self.assertIn("image skipped: ", self.cachet(*bench, "--set", "data.on_bad_image=skip").stderr)
        self.assertIn("images/s", table)
        self.assertIn("--set changes a recipe", self.refused("data", "bench", "shards", "--set", "data.window=3", cwd=self.folder))
        self.assertIn("--seconds must be above 0", self.refused("data", "bench", "shards", "--seconds", "0", cwd=self.folder))


if __name__ == "__main__":
    command.main()
