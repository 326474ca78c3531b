#!/usr/bin/env python3
"""Images a second on one core: decode, random resized crop (bicubic), flip, normalise, of the same JPEG files, by Cachet
and by Pillow + NumPy (and torchvision where it imports), in turns; prints medians and quartiles as CSV.

usage: taskset -c 1 benchmarks/image_loading.py PROGRAM FOLDER [--rounds N] [--size N]

PROGRAM is build/release/image_loading_benchmark, FOLDER holds JPEG files.
"""

import argparse
import math
import os
import pathlib
import random
import statistics
import subprocess
import time

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

from measurements import print_row, ratio_columns  # noqa: E402

MEAN = np.array([0.485, 0.456, 0.406], np.float32) * 255
SCALE = 1 / (np.array([0.229, 0.224, 0.225], np.float32) * 255)


def region_of(width, height):
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1)
        aspect = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            left, top = random.randint(0, width - w), random.randint(0, height - h)
            return left, top, left + w, top + h
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, (width + side) // 2, (height + side) // 2


def load_with_pillow(path, size, draft=False):
    image = Image.open(path)
    box = region_of(*image.size)
    if draft:  # scaled decoding: asked for by hand, since Pillow's own loaders do not
        width, height = image.size
        image.draft("RGB", (width * size // (box[2] - box[0]), height * size // (box[3] - box[1])))
        box = tuple(side * image.size[i % 2] // (width, height)[i % 2] for i, side in enumerate(box))
        box = (box[0], box[1], max(box[2], box[0] + 1), max(box[3], box[1] + 1))
    image = image.convert("RGB").crop(box).resize((size, size), Image.Resampling.BICUBIC)
    if random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    pixels = np.asarray(image).astype(np.float32)
    pixels -= MEAN
    pixels *= SCALE
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def torchvision_loader(size):
    import torch
    from torchvision_names import declare_operators
    declare_operators()
    from torchvision import transforms
    torch.set_num_threads(1)
    transform = transforms.Compose([
        transforms.RandomResizedCrop(size, interpolation=transforms.InterpolationMode.BICUBIC),
        transforms.RandomHorizontalFlip(), transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
    return lambda path: transform(Image.open(path).convert("RGB"))


def seconds_of(load, files):
    start = time.perf_counter()
    for path in files:
        load(path)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--size", type=int, default=224)
    options = parser.parse_args()
    files = sorted(options.folder.iterdir())
    random.seed(1)
    loaders = {"Pillow + NumPy": lambda path: load_with_pillow(path, options.size),
               "Pillow + NumPy, scaled decoding": lambda path: load_with_pillow(path, options.size, draft=True)}
    try:
        loaders["torchvision"] = torchvision_loader(options.size)
    except ImportError:
        pass
    ours = subprocess.Popen([options.program, options.folder, str(options.size)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)

    def our_seconds():
        ours.stdin.write("\n")
        ours.stdin.flush()
        return float(ours.stdout.readline())

    our_seconds()
    for name, load in loaders.items():
        seconds_of(load, files[:20])
        theirs, mine = [], []
        for turn in range(options.rounds):
            if turn % 2:  # each goes first as often as last
                mine.append(our_seconds())
            theirs.append(seconds_of(load, files))
            if turn % 2 == 0:
                mine.append(our_seconds())
        print_row(other=name, files=len(files), threads=1, other_images_per_s=f"{len(files) / statistics.median(theirs):.0f}",
                  ours_images_per_s=f"{len(files) / statistics.median(mine):.0f}", **ratio_columns(theirs, mine))
    ours.stdin.close()
    ours.wait()


if __name__ == "__main__":
    main()
