#!/usr/bin/env python3
"""roi_align and nms compared with torchvision's CPU operators: detection_operators.py LIBRARY PYTHON [--rounds N] [--seconds S]

LIBRARY is build/release/lib/libcachet_ops.so, loaded into the LibTorch of this Python; PYTHON is an interpreter that has
torchvision with the torch that it was built for. Each works in a process of its own, with two threads, and they take turns.
Maps are those of the finest level of two images of 512 x 640 pixels, 256 channels, with 512 boxes of the sizes that this level
gets; boxes of nms crowd about a hundredth of their number of positions. Prints CSV: time of torchvision's ÷ time of ours. Ends with
1 where results differ.
"""
import argparse
import json
import sys

from measurements import median, pairs_of, print_row, ratio_columns
from served_program import ServedProgram

WORKER = r"""
import json, statistics, sys, time
import torch
library, seconds = sys.argv[1], float(sys.argv[2])
torch.set_num_threads(2)
if library:
    torch.ops.load_library(library)
    roi_align = lambda x, boxes, side: torch.ops.cachet.roi_align(x, boxes, side, side, 0.25)
    def nms(boxes, scores):
        order, kept = torch.ops.cachet.nms(boxes, scores, None, 0.7)
        return order[kept]
else:
    import torchvision
    roi_align = lambda x, boxes, side: torchvision.ops.roi_align(x, boxes, side, 0.25, sampling_ratio=-1, aligned=True)
    nms = lambda boxes, scores: torchvision.ops.nms(boxes, scores, 0.7)

def boxes_of(count, largest):
    at, size = torch.rand(count, 2) * torch.tensor([640.0, 512.0]), 8 + (largest - 8) * torch.rand(count, 2)
    return torch.cat([at - size / 2, at + size / 2], 1)

def case_of(what):
    torch.manual_seed(0)
    if what[0] == "nms":
        boxes = boxes_of(what[1] // 100, 200).repeat(100, 1) + 8 * torch.randn(what[1], 4)
        boxes[:, 2:] = torch.maximum(boxes[:, 2:], boxes[:, :2] + 1)
        scores = torch.rand(what[1])
        return lambda: nms(boxes, scores)
    x, side = torch.randn(2, 256, 128, 160), what[1]
    boxes = torch.cat([torch.arange(512).remainder(2).unsqueeze(1), boxes_of(512, 112)], 1)
    if what[0] == "forward":
        return lambda: roi_align(x, boxes, side)
    x.requires_grad_()
    gradient = torch.randn(512, 256, side, side)
    return lambda: torch.autograd.grad(roi_align(x, boxes, side), x, gradient)[0]

def checksum(result):
    if result.dtype == torch.int64:
        return [result.numel(), int(result[:1000].sum())]
    return [float(result.double().sum()), float(result.double().abs().sum())]

cases = {}
print("ready", flush=True)
for line in sys.stdin:
    what = json.loads(line)
    call = cases.get(line) or case_of(what)
    if line not in cases:
        cases[line] = call
        call()
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    print(json.dumps({"ms": 1e3 * statistics.median(times), "checksum": checksum(result)}), flush=True)
"""


class TimedProcess(ServedProgram):
    def __init__(self, python, library, seconds):
        super().__init__([python, "-c", WORKER, library, str(seconds)])

    def time(self, what):
        return json.loads(self.ask(json.dumps(what)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5)
    arguments = parser.parse_args()
    ours = TimedProcess(sys.executable, arguments.library, arguments.seconds)
    theirs = TimedProcess(arguments.python, "", arguments.seconds)
    differing = []
    for operator, what, size in [("roi_align", kind, side) for kind in ("forward", "forward + backward") for side in (7, 14)] + [
            ("nms", "nms", count) for count in (2000, 20000)]:
        pairs = pairs_of(arguments.rounds, lambda: ours.time([what, size]), lambda: theirs.time([what, size]))
        for own, other in zip(pairs[0][0]["checksum"], pairs[0][1]["checksum"]):
            if abs(own - other) > 1e-4 * max(1, abs(other)):
                differing.append(f"{what} {size}: {pairs[0][0]['checksum']} and {pairs[0][1]['checksum']}")
        times = [[round[i]["ms"] for round in pairs] for i in (0, 1)]
        print_row(operator=operator, what=what if operator == "roi_align" else "", size=size, ms=median(times[0], 2),
                  torchvision_ms=median(times[1], 2), **ratio_columns(times[1], times[0]))
    print("\n".join(differing), end="", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
