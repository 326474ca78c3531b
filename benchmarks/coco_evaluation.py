#!/usr/bin/env python3
"""COCO's evaluation of boxes and masks: Cachet's, pycocotools' and faster-coco-eval's, on a set drawn by a seed.

usage: benchmarks/coco_evaluation.py PROGRAM [--images N] [--detections N] [--seed N] [--rounds N] [--threads N]
                                     [--peers NAME ...] [--folder FOLDER]

PROGRAM is build/release/coco_evaluation_benchmark. The set has images of 640 x 480 pixels with 7 objects on
average in 80 categories, one in fifty of them a crowd, and per image as many detections as asked for: jittered truth,
and noise. The programs take turns; prints a row for boxes and for masks, with and without reading the files, against
each peer: seconds, and the ratio peer / Cachet with quartiles. Ends with 1 if any of the twelve numbers differ by more
than 1e-9. Peers run in processes of their own; they take the threads of OMP_NUM_THREADS, if they have any.
"""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from measurements import median, pairs_of, print_row, ratio_columns

HEIGHT, WIDTH, CATEGORIES = 480, 640, 80

PEER = r"""
import contextlib, io, json, sys, time
name, instances, results, kind = sys.argv[1:]
if name == "pycocotools":
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval as Evaluation
else:
    from faster_coco_eval import COCO, COCOeval_faster as Evaluation
with contextlib.redirect_stdout(io.StringIO()):
    start = time.perf_counter()
    truth = COCO(instances)
    seen = truth.loadRes(results)
    reading = time.perf_counter() - start
    start = time.perf_counter()
    evaluation = Evaluation(truth, seen, {"boxes": "bbox", "masks": "segm"}[kind])
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    seconds = time.perf_counter() - start
numbers = [float(number) for number in evaluation.stats[:12]]
print(json.dumps({"reading": reading, "evaluation": seconds, "numbers": numbers}))
"""


def blob(draw, x, y, width, height):
    """A polygon about a box's middle."""
    corners = draw.randint(8, 24)
    polygon = []
    for i in range(corners):
        angle, reach = 2 * math.pi * i / corners, draw.uniform(0.6, 1)
        polygon += [
            round(min(max(x + width / 2 * (1 + reach * math.cos(angle)), 0), WIDTH), 2),
            round(min(max(y + height / 2 * (1 + reach * math.sin(angle)), 0), HEIGHT), 2),
        ]
    return polygon


def draw_box(draw):
    width, height = (math.exp(draw.uniform(math.log(12), math.log(side))) for side in (WIDTH * 0.8, HEIGHT * 0.8))
    return draw.uniform(0, WIDTH - width), draw.uniform(0, HEIGHT - height), width, height


def jittered(draw, box, amount):
    x, y, width, height = box
    x, y = x + draw.gauss(0, amount) * width, y + draw.gauss(0, amount) * height
    width, height = (side * math.exp(draw.gauss(0, amount)) for side in (width, height))
    x, y = min(max(x, 0), WIDTH - 4), min(max(y, 0), HEIGHT - 4)
    return x, y, min(width, WIDTH - x), min(height, HEIGHT - y)


def make_set(folder, options):
    """instances.json, boxes.json and masks.json."""
    from pycocotools import mask as masks

    def run_lengths(polygon):
        return masks.merge(masks.frPyObjects([polygon], HEIGHT, WIDTH))

    draw = random.Random(options.seed)
    images, annotations, boxes, outlines = [], [], [], []
    for image in range(1, options.images + 1):
        images.append({"id": image, "width": WIDTH, "height": HEIGHT, "file_name": f"{image}.jpg"})
        truths = []
        for _ in range(draw.randint(3, 11)):
            box, category = draw_box(draw), draw.randint(1, CATEGORIES)
            polygon = blob(draw, *box)
            lengths = run_lengths(polygon)
            crowd = draw.random() < 0.02
            if crowd:
                flat = masks.decode(lengths).T.reshape(-1)
                counts, last, run = [], 0, 0
                for value in flat.tolist():
                    if value != last:
                        counts.append(run)
                        last, run = value, 0
                    run += 1
                segmentation = {"size": [HEIGHT, WIDTH], "counts": counts + [run]}
            else:
                segmentation = [polygon]
            truths.append((box, category))
            annotations.append({
                "id": len(annotations) + 1, "image_id": image, "category_id": category, "iscrowd": int(crowd),
                "bbox": [float(side) for side in masks.toBbox(lengths)], "area": float(masks.area(lengths)),
                "segmentation": segmentation,
            })
        for _ in range(options.detections):
            if draw.random() < 0.4:
                box, category = draw.choice(truths)
                amount = draw.choice((0.03, 0.1, 0.3))
                box = jittered(draw, box, amount)
                score = min(max(draw.gauss(0.8 - amount, 0.2), 0), 1)
            else:
                box, category, score = draw_box(draw), draw.randint(1, CATEGORIES), draw.random() ** 3
            entry = {"image_id": image, "category_id": category, "score": round(score, 4)}
            boxes.append(entry | {"bbox": [round(side, 2) for side in box]})
            lengths = run_lengths(blob(draw, *box))
            outlines.append(entry | {"segmentation": {"size": [HEIGHT, WIDTH], "counts": lengths["counts"].decode()}})
    categories = [{"id": i, "name": f"category {i}"} for i in range(1, CATEGORIES + 1)]
    for name, content in (
        ("instances", {"images": images, "annotations": annotations, "categories": categories}),
        ("boxes", boxes),
        ("masks", outlines),
    ):
        (folder / f"{name}.json").write_text(json.dumps(content))


def timed(command, threads):
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return json.loads(answer.splitlines()[-1])


def measure(folder, kind, options):
    """Prints a row a peer, and with and without reading; returns the largest difference of the numbers."""
    files = [str(folder / "instances.json"), str(folder / f"{kind}.json"), kind]
    worst = 0
    for peer in options.peers:
        ours, theirs = zip(*pairs_of(
            options.rounds,
            lambda: timed([options.program, *files, str(options.threads)], options.threads),
            lambda: timed([sys.executable, "-c", PEER, peer, *files], options.threads),
        ))
        for answer in theirs:
            worst = max(worst, *(abs(a - b) for a, b in zip(ours[0]["numbers"], answer["numbers"])))
        for reading in (False, True):
            seconds = [
                [answer["evaluation"] + (answer["reading"] if reading else 0) for answer in answers]
                for answers in (theirs, ours)
            ]
            print_row(
                kind=kind, reading="with" if reading else "without", peer=peer, threads=options.threads,
                peer_s=median(seconds[0], 3), cachet_s=median(seconds[1], 3), **ratio_columns(*seconds),
            )
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--detections", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", nargs="+", default=["pycocotools", "faster-coco-eval"])
    parser.add_argument("--folder", type=pathlib.Path, help="where the set lies, or is made and kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        if not (folder / "masks.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            make_set(folder, options)
        worst = max(measure(folder, kind, options) for kind in ("boxes", "masks"))
    print(f"largest difference of the numbers: {worst:.2g}", file=sys.stderr)
    return 0 if worst <= 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
