#!/usr/bin/env python3
"""Mask R-CNN on PVT-Tiny compared with the same of the authors' PVT and torchvision's parts: detectors.py PROGRAM PYTHON
[--rounds N] [--precision fp32,bf16]

PROGRAM is build/release/detectors_benchmark, PYTHON an interpreter that has torchvision with the torch that it was
built for; GRC_SRC names a checkout of the published code of Cached Transformers. Two images of 512 x 640 pixels, the same
weights in both, two threads each; they take turns, each in a process of its own. A step has the optimizer's part; inference
ends with masks as large as the images. Prints CSV: time of theirs ÷ time of ours, above 1 ours is faster, and of both how
many regions showed an object in a step and how many objects were found.
"""
import argparse
import os
import pathlib
import tempfile

from measurements import median, pairs_of, print_row, ratio_columns
from served_program import ServedProgram

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--precision", default="fp32")
    arguments = parser.parse_args()
    if not os.environ.get("GRC_SRC"):
        return
    for precision in arguments.precision.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            file = os.path.join(scratch, "detector.safetensors")
            ours = ServedProgram([arguments.program, "--serve", file, precision])
            theirs = ServedProgram([arguments.python, str(HERE / "torchvision_detector.py"), file, precision])
        for place, (mode, counted) in enumerate((("training", "regions"), ("inference", "objects"))):
            pairs = pairs_of(arguments.rounds, lambda: float(ours.ask(mode)), lambda: float(theirs.ask(mode)), warm_up=1)
            own, other = zip(*pairs)
            print_row(model="mask_rcnn_pvt_tiny_fpn", mode=mode, precision=precision, threads=2, ms=median(own, 0),
                      torchvision_ms=median(other, 0), **ratio_columns(other, own),
                      counted=counted, count=ours.ready[place], torchvision_count=theirs.ready[place])
        ours.close()
        theirs.close()


if __name__ == "__main__":
    main()
