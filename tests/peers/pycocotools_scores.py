"""The numbers of COCO's evaluation, of sets that are drawn: benchmarks/coco_evaluation_benchmark.cpp compared with pycocotools."""
import contextlib
import io
import json

import numpy
from pycocotools import mask as masks
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from comparison import Found, comparison, drawer

SETS = 16  # of each kind
CATEGORIES = [{"id": number, "name": f"category {number}"} for number in (3, 1, 90, 17)]
SIDES = (32, 96)  # whose squares separate small, medium and large


def rectangle(draw, height, width):
    """x, y, width, height: of any size, of an area at a bound, of a part of a pixel, or without area."""
    kind = draw.randrange(8)
    if kind == 0:
        side = draw.choice(SIDES)
        size = (side, side)
    elif kind == 1:
        size = (draw.choice((0, 0.25, 1)), draw.uniform(0, 40))
    else:
        size = (draw.uniform(1, width) ** draw.choice((0.5, 0.8, 1)), draw.uniform(1, height) ** draw.choice((0.5, 0.8, 1)))
    corner = (draw.uniform(0, max(width - size[0], 1)), draw.uniform(0, max(height - size[1], 1)))
    values = [*corner, *size]
    return [round(value) for value in values] if draw.random() < 0.4 else [round(value, 2) for value in values]


def moved(draw, box):
    spread = draw.choice((0, 1, 4, 15))
    box = [value + draw.uniform(-spread, spread) for value in box]
    return [box[0], box[1], max(box[2], 0), max(box[3], 0)]


def polygon(draw, box):
    """A polygon of the box's corners, some of them cut."""
    x, y, width, height = box
    cut = draw.choice((0, 0.3, 0.5))
    return [x + cut * width, y, x + width, y, x + width, y + (1 - cut) * height, x + width / 2, y + height, x, y + height,
            x, y + cut * height]


def run_lengths(draw, box, height, width):
    """Compressed run lengths of an ellipse, or of noise, in the box."""
    x, y, w, h = box
    rows, columns = numpy.mgrid[:height, :width]
    inside = ((columns + 0.5 - x - w / 2) / max(w / 2, 0.5)) ** 2 + ((rows + 0.5 - y - h / 2) / max(h / 2, 0.5)) ** 2 <= 1
    if draw.random() < 0.1:
        inside &= numpy.random.default_rng(draw.getrandbits(32)).random((height, width)) < 0.7
    encoded = masks.encode(numpy.asfortranarray(inside.astype(numpy.uint8)))
    return {"size": encoded["size"], "counts": encoded["counts"].decode()}


def uncompressed(encoded):
    flat = masks.decode(encoded).flatten(order="F")
    changes = numpy.flatnonzero(numpy.diff(flat)) + 1
    runs = numpy.diff(numpy.concatenate([[0], changes, [flat.size]])).tolist()
    return {"size": encoded["size"], "counts": ([0] if flat[0] else []) + runs}


def drawn_set(number, of_masks):
    """Images with and without objects, crowds, more than a hundred detections of one, equal scores, categories that lack
    objects or detections."""
    draw = drawer(f"coco {number} {of_masks}")
    images, annotations, detections = [], [], []
    ids = draw.sample(range(1, 10_000), 24)
    for index, image_id in enumerate(ids):
        height, width = draw.randrange(20, 200), draw.randrange(20, 200)
        images.append({"id": image_id, "height": height, "width": width, "file_name": f"{image_id}.png"})
        truths = 0 if index % 6 == 0 else draw.randrange(1, 12)
        boxes = []
        for _ in range(truths):
            box, crowd = rectangle(draw, height, width), draw.random() < 0.15
            category = draw.choice(CATEGORIES[:3])["id"]
            boxes.append((box, category))
            segmentation = [polygon(draw, box)]
            if crowd or draw.random() < 0.2:
                encoded = run_lengths(draw, box, height, width)
                segmentation = uncompressed(encoded) if crowd or draw.random() < 0.5 else encoded
            area = draw.choice((box[2] * box[3], 32 ** 2, 96 ** 2, 32 ** 2 + 1e-9, 0, draw.uniform(0, 2e4)))
            annotations.append({"id": len(annotations) + 1, "image_id": image_id, "category_id": category, "bbox": box,
                                "area": area, "iscrowd": int(crowd), "segmentation": segmentation})
        many = index == 5
        for _ in range(150 if many else draw.randrange(0, 25)):
            if boxes and draw.random() < 0.7:
                box, category = draw.choice(boxes)
                box = moved(draw, box)
            else:
                box, category = rectangle(draw, height, width), draw.choice(CATEGORIES)["id"]
            score = draw.choice((draw.random(), round(draw.random(), 1)))
            shape = {"segmentation": run_lengths(draw, box, height, width)} if of_masks else {"bbox": box}
            if many:
                category = CATEGORIES[0]["id"]
            detections.append({"image_id": image_id, "category_id": category, "score": score, **shape})
    draw.shuffle(detections)
    return {"images": images, "categories": CATEGORIES, "annotations": annotations}, detections


def by_pycocotools(instances, results, kind):
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(instances))
        evaluation = COCOeval(truth, truth.loadRes(str(results)), kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.stats


def compared(setting, of_masks):
    found = Found(0)
    for number in range(SETS):
        folder = setting.folder(str(number))
        files = []
        for name, content in zip(("instances", "results"), drawn_set(number, of_masks)):
            files.append(folder / f"{name}.json")
            files[-1].write_text(json.dumps(content))
        said = json.loads(setting.run("coco_evaluation_benchmark", *files, "masks" if of_masks else "boxes"))
        theirs = by_pycocotools(*files, "segm" if of_masks else "bbox")
        for our, their in zip(said["numbers"], theirs, strict=True):
            found.add(abs(our - their))
    found.note = f"{SETS} sets"
    return found


# Sums of the same numbers in another order.
@comparison("pycocotools", "the twelve numbers of boxes: crowds, equal scores, areas at bounds, over 100 detections",
            allowed=1e-12)
def boxes(setting):
    return compared(setting, False)


@comparison("pycocotools", "the twelve numbers of masks: polygons, both forms of run lengths, crowds", allowed=1e-12)
def outlines(setting):
    return compared(setting, True)
