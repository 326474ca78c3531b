#!/usr/bin/env python3
"""What it takes until a program has classified one image: deployed_start.py CACHET CLASSIFY IMAGE RUN [--rounds N]

Seconds from the start of a process to its end, the most memory it held, and megabytes of the libraries and programs that it
mapped and that no system brings (outside of /lib and /usr/lib). CLASSIFY is the program of examples/deploy-cpp; RUN is a run
of a classifier of images, exported here to each engine. Next to them, what a user of Python would run: OpenVINO's package with
the same export, and PyTorch with a plain ViT-S. Programs run in turns. Prints CSV.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from measurements import median, print_row

SYSTEM = ("/lib/", "/lib64/", "/usr/lib/")

OPENVINO_IN_PYTHON = """
import sys, numpy, openvino
compiled = openvino.Core().compile_model(sys.argv[1] + "/model.xml", "CPU")
print(compiled(numpy.zeros((1, 3, *map(int, sys.argv[2].split("x"))), numpy.float32))[0].argmax())
"""
PYTORCH = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from python_models import ViT
with torch.inference_mode():
    print(ViT(False).eval()(torch.zeros(1, 3, 224, 224)).argmax())
"""


def mapped(pid):
    """Libraries and programs that a process has mapped, but for the system's."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    except OSError:
        return set()
    paths = {line.split(maxsplit=5)[5] for line in lines if line.count("/") and " r-xp " in line}
    return {path for path in paths if not path.startswith(SYSTEM)}


def run(words):
    """Seconds, bytes at the peak, and files mapped."""
    start, files = time.perf_counter(), set()
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        files |= mapped(process.pid)
        time.sleep(0.002)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{' '.join(map(str, words))}: {process.stderr.read().decode()}")
    return seconds, usage.ru_maxrss * 1024, files


def main():
    parser = argparse.ArgumentParser()
    for name in ("cachet", "classify", "image", "run"):
        parser.add_argument(name)
    parser.add_argument("--size", default="224x224", help="of the images of the run, in pixels")
    parser.add_argument("--rounds", type=int, default=9)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        exports = {engine: pathlib.Path(scratch) / engine for engine in ("openvino", "torch")}
        for engine, folder in exports.items():
            subprocess.run([o.cachet, "export", o.run, "-o", folder, "--engine", engine], check=True, capture_output=True)
        here = pathlib.Path(__file__).parent
        programs = {
            "examples/deploy-cpp": [o.classify, exports["openvino"], o.image],
            "cachet predict, openvino": [o.cachet, "predict", exports["openvino"], o.image],
            "cachet predict, torch": [o.cachet, "predict", exports["torch"], o.image],
            "cachet predict, the run": [o.cachet, "predict", o.run, o.image],
            "Python, OpenVINO": [sys.executable, "-c", OPENVINO_IN_PYTHON, exports["openvino"], o.size],
            "Python, PyTorch": [sys.executable, "-c", PYTORCH, here],
        }
        seen = {name: [] for name in programs}
        for _ in range(o.rounds + 1):  # the first reads files that are not in memory yet
            for name, words in programs.items():
                seen[name].append(run(words))
        for name, rounds in seen.items():
            files = set().union(*(files for _, _, files in rounds))
            print_row(program=name, seconds=median([seconds for seconds, _, _ in rounds[1:]], 2),
                      megabytes_in_memory=round(max(peak for _, peak, _ in rounds[1:]) / 1e6),
                      megabytes_of_libraries=round(sum(os.path.getsize(path) for path in files) / 1e6, 1))


if __name__ == "__main__":
    main()
