"""Small images, a recipe for them and a folder to train in: what the tests of runs share."""
import json
import struct
import subprocess
import time
import zlib

import command

RECIPE = """
[data]
root = "images"
kind = "idx"
classes = 4
[model]
name = "vit_tiny_patch16_224"
image_size = 8
patch_size = 4
embed_dim = 16
depth = 1
num_heads = 2
[model.cache]
kind = "grc"
[model.norm]
kind = "un"
warmup = 4
[train]
epochs = 3
batch_size = 8
threads = 1
log_every = "2 steps"
checkpoint_every = "4 steps"
"""


# What makes a recipe of sequences one of seconds.
SMALL_ENCODER = [word for setting in ("model.embed_dim=16", "model.depth=1", "model.num_heads=2", "model.mlp_dim=16",
                                      "data.max_length=64", "train.batch_size=4", "train.threads=1")
                 for word in ("--set", setting)]


def shapes_command(train, validation, side, *more):
    """Writes few scenes of shapes, as high as wide, to the folder `shapes`."""
    return ["data", "shapes", "-o", "shapes", "--train", str(train), "--validation", str(validation),
            "--height", str(side), "--width", str(side), *more]


PYRAMID = """embed_dims = [8, 16, 16, 32]
depths = [1, 1, 1, 1]
num_heads = [1, 2, 2, 4]
mlp_ratios = [1, 1, 1, 1]
"""
FEW_REGIONS = """[model.rpn_head]
feat_channels = 8
[model.rpn_head.anchors]
scales = [4.0]
[model.rpn_head.proposals]
max_per_img = 40
[model.rpn_head.test_proposals]
max_per_img = 40
[model.roi_head.sampler]
num = 16
[model.roi_head.bbox_head]
fc_out_channels = 12
"""


def detector_recipe(name, side, tables, pyramid=PYRAMID):
    """A recipe of seconds for such scenes: a detector on a small pyramid, of PVT by default, and tables of its own."""
    return f"""
[task]
kind = "detection"
[data]
classes = 6
workers = 0
root = "shapes"
[data.transform]
long_side = {side}
short_sides = [{side}]
[model]
name = "{name}"
""" + pyramid + "[model.neck]\nout_channels = 8\n" + tables


def write_reviews(root, train=20, test=5):
    """The IMDb reviews, as far as their folders go."""
    for split, count in (("train", train), ("test", test)):
        for label in ("neg", "pos"):
            folder = root / split / label
            folder.mkdir(parents=True)
            for number in range(count):
                (folder / f"{number}_5.txt").write_text(f"film {split} {label} {number} was\tshown")


def pixels(index):
    """Noise of no library, brighter columns for each class."""
    label = index % 4
    return bytes((index * 31 + y * 17 + x * 13) % 100 + (120 if x % 4 == label else 0)
                 for y in range(8) for x in range(8))


def write_images(folder):
    folder.mkdir()
    for prefix, count in (("train", 96), ("t10k", 33)):
        data = b"".join(pixels(index) for index in range(count))
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, count, 8, 8) + data)
        labels = bytes(index % 4 for index in range(count))
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, count) + labels)


def write_png(path, width, height, rows, level=-1):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + rows[y * width:(y + 1) * width] for y in range(height))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(lines, level)) + chunk(b"IEND", b""))


class RunTest(command.FolderTest):
    def setUp(self):
        super().setUp()
        write_images(self.folder / "images")
        (self.folder / "tiny.toml").write_text(RECIPE)

    def train(self, run, *words):
        return self.cachet("train", "tiny.toml", "--run", run, "--progress", "none", *words)

    def events(self, run):
        return [json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]

    def weights(self, run):
        checkpoints = self.folder / run / "checkpoints"
        return (checkpoints / (checkpoints / "last").read_text().strip() / "model.safetensors").read_bytes()

    def started(self, run, *words, step=4):
        """A training that is under way and has reached a step."""
        process = subprocess.Popen([command.COMMAND, "train", "tiny.toml", "--run", run, "--progress", "none", *words],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for_step(process, run, step)
        return process

    def wait_for_step(self, process, run, step):
        deadline = time.monotonic() + 200
        while not ((self.folder / run / "metrics.jsonl").exists() and
                   any(event["step"] >= step for event in self.events(run))):
            self.assertIsNone(process.poll(), "it ended before it was to be stopped")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
