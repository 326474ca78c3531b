#!/usr/bin/env python3
"""Images a second by number of cores: read, decode, random resized crop (bicubic), flip, normalise, in batches, by Cachet from
tar shards and from class folders, by torchvision's ImageFolder with a DataLoader, and by Pillow + NumPy with a DataLoader. If the
Pillow of this Python is Pillow-SIMD, the last two use it. All read the same JPEG files, in turns; prints medians and quartiles as
CSV. What cannot be imported is named on standard error and left out.

usage: benchmarks/shard_loading.py CACHET FOLDER [--cores 1,2,4] [--rounds N] [--seconds S] [--size N] [--batch-size N]

CACHET is build/release/cachet. FOLDER has train/<class>/*.jpg. The shards are made in a temporary folder.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from measurements import print_row


def missing(what, error):
    print(f"{what} is left out: {error}", file=sys.stderr)


def cachet_rate(program, source, cores, options):
    done = subprocess.run([program, "data", "bench", source, "--cores", str(cores), "--seconds", str(options.seconds), "--size",
                           str(options.size), "--batch-size", str(options.batch_size), "--json", "--progress", "none"],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["cores"][0]["images_per_second"]


class PillowFiles:
    """The files of class folders, loaded with Pillow and NumPy as benchmarks/image_loading.py does."""

    def __init__(self, folder, size):
        self.files = sorted(folder.glob("*/*"))
        self.size = size

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        from image_loading import load_with_pillow
        return load_with_pillow(self.files[index], self.size), 0


def torchvision_files(folder, size):
    from torchvision_names import declare_operators
    declare_operators()
    from torchvision import datasets, transforms
    return datasets.ImageFolder(folder, transforms.Compose([
        transforms.RandomResizedCrop(size, interpolation=transforms.InterpolationMode.BICUBIC), transforms.RandomHorizontalFlip(),
        transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]))


def loader_rate(files, cores, options):
    """From the first batch on, as `cachet data bench` measures."""
    import torch
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(files, batch_size=options.batch_size, shuffle=True, num_workers=cores, drop_last=True,
                                         persistent_workers=True)
    start, images = None, 0
    while True:
        for batch, _ in loader:
            now = time.perf_counter()
            if start is None:
                start = now
                continue
            images += len(batch)
            if now - start >= options.seconds:
                return images / (now - start)


def pillow_name():
    import PIL
    return ("Pillow-SIMD" if ".post" in PIL.__version__ else "Pillow") + f" {PIL.__version__}"


def other_loaders(folder, options):
    loaders = {}
    try:
        import torch  # noqa: F401
    except ImportError as error:
        missing("torch's DataLoader, and all that uses it,", error)
        return loaders
    try:
        name = pillow_name()
        import numpy  # noqa: F401
        import image_loading  # noqa: F401
        if not name.startswith("Pillow-SIMD"):
            missing("Pillow-SIMD", f"this Python has {name}, which is measured instead")
        pillow = PillowFiles(folder, options.size)
        loaders[f"{name} + NumPy"] = lambda cores: loader_rate(pillow, cores, options)
    except ImportError as error:
        missing("Pillow", error)
        return loaders
    try:
        files = torchvision_files(folder, options.size)
        loaders[f"torchvision, {name}"] = lambda cores: loader_rate(files, cores, options)
    except ImportError as error:
        missing("torchvision", error)
    return loaders


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cores", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch-size", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        shards = f"{scratch}/shards"
        subprocess.run([options.program, "data", "shards", options.folder, "-o", shards, "--splits", "train"], check=True,
                       stdout=subprocess.DEVNULL)
        loaders = {"Cachet, shards": lambda cores: cachet_rate(options.program, shards, cores, options),
                   "Cachet, class folders": lambda cores: cachet_rate(options.program, str(options.folder), cores, options),
                   **other_loaders(options.folder / "train", options)}
        for cores in map(int, options.cores.split(",")):
            rates = {name: [] for name in loaders}
            for turn in range(options.rounds):
                names = list(loaders) if turn % 2 else list(reversed(loaders))  # each goes first as often as last
                for name in names:
                    rates[name].append(loaders[name](cores))
            for name, found in rates.items():
                lower, median, upper = statistics.quantiles(found, n=4) if len(found) > 1 else found * 3
                print_row(loader=name, cores=cores, images_per_s=f"{median:.0f}", lower_quartile=f"{lower:.0f}",
                          upper_quartile=f"{upper:.0f}", rounds=len(found))


if __name__ == "__main__":
    main()
