#!/usr/bin/env python3
"""Draws a small part of Fashion-MNIST, the same number of images of each class.

usage: make_fashion_mnist_subset.py SOURCE_FOLDER DESTINATION [--train N] [--test N] [--seed N]

SOURCE_FOLDER holds the four IDX files of the full data set under their standard names (.gz or plain). The same arguments
always write the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import pathlib
import random
import struct
import sys

CLASSES = 10
LICENSE = """\
The MIT License (MIT)

Copyright © 2017 Zalando SE, https://tech.zalando.com

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""
README = """\
# A part of Fashion-MNIST

{train:,} training and {test:,} test images (28 × 28, grey, ten classes, {train_each:,} and {test_each:,} of each) of
Fashion-MNIST by Han Xiao, Kashif Rasul and Roland Vollgraf (Zalando Research, 2017,
<https://github.com/zalandoresearch/fashion-mnist>, MIT licence in `LICENSE`), for the first run and the tests.
Accuracies reached on it are not those of the full data set.

Drawn without replacement by `tools/make_fashion_mnist_subset.py SOURCE_FOLDER DESTINATION --train {train} --test {test}
--seed {seed}`: training images from the 60,000 training images, test images from the 10,000 test images, as many of
each class, in the order of the source. The files are IDX, gzipped without name and time.

Labels: 0 T-shirt/top, 1 trouser, 2 pullover, 3 dress, 4 coat, 5 sandal, 6 shirt, 7 sneaker, 8 bag, 9 ankle boot.

SHA-256:

| file | as it is | unpacked |
|---|---|---|
{hashes}
"""


def read_idx(folder, name, magic, rank):
    for path, open_file in ((folder / name, open), (folder / (name + ".gz"), gzip.open)):
        if path.exists():
            with open_file(path, "rb") as file:
                data = file.read()
            break
    else:
        sys.exit(f"{folder / name}: neither this file nor {name}.gz exists")
    header = struct.unpack_from(f">{rank + 1}I", data)
    body = data[4 * (rank + 1) :]
    size = 1
    for side in header[1:]:
        size *= side
    if header[0] != magic or len(body) != size:
        sys.exit(f"{path}: not an IDX file of this kind, or not whole")
    return header[1:], body


def draw(labels, count, generator):
    """The positions of count / CLASSES images of each class, sorted."""
    chosen = []
    for label in range(CLASSES):
        places = [place for place, found in enumerate(labels) if found == label]
        if len(places) < count // CLASSES:
            sys.exit(f"class {label} has only {len(places)} images")
        chosen += generator.sample(places, count // CLASSES)
    return sorted(chosen)


def write_gzip(path, data):
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(data)
    path.write_bytes(packed.getvalue())
    digests = (hashlib.sha256(content).hexdigest() for content in (packed.getvalue(), data))
    return "| `{}` | `{}` | `{}` |".format(path.name, *digests)


def write_split(source, destination, split, count, generator):
    (_, height, width), pixels = read_idx(source, f"{split}-images-idx3-ubyte", 0x803, 3)
    _, labels = read_idx(source, f"{split}-labels-idx1-ubyte", 0x801, 1)
    area = height * width
    places = draw(labels, count, generator)
    images = struct.pack(">4I", 0x803, count, height, width) + b"".join(
        pixels[place * area : (place + 1) * area] for place in places
    )
    chosen = struct.pack(">2I", 0x801, count) + bytes(labels[place] for place in places)
    return [
        write_gzip(destination / f"{split}-images-idx3-ubyte.gz", images),
        write_gzip(destination / f"{split}-labels-idx1-ubyte.gz", chosen),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path, metavar="SOURCE_FOLDER")
    parser.add_argument("destination", type=pathlib.Path, metavar="DESTINATION")
    parser.add_argument("--train", type=int, default=10_000, help="training images (default 10000)")
    parser.add_argument("--test", type=int, default=2_000, help="test images (default 2000)")
    parser.add_argument("--seed", type=int, default=2017)
    options = parser.parse_args()
    for count in (options.train, options.test):
        if count < CLASSES or count % CLASSES != 0:
            parser.error(f"{count} images are not the same number of each of {CLASSES} classes")

    options.destination.mkdir(parents=True, exist_ok=True)
    rows = []
    for split, count in (("train", options.train), ("t10k", options.test)):
        generator = random.Random(f"{options.seed} {split}")
        rows += write_split(options.source, options.destination, split, count, generator)
    (options.destination / "LICENSE").write_text(LICENSE, encoding="utf-8")
    readme = README.format(
        train=options.train,
        test=options.test,
        train_each=options.train // CLASSES,
        test_each=options.test // CLASSES,
        seed=options.seed,
        hashes="\n".join(rows),
    )
    (options.destination / "README.md").write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
