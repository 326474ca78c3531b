"""roi_align, nms and the coding of boxes compared with torchvision."""
import torch
import torchvision_here
from torchvision.models.detection._utils import BoxCoder
from torchvision.ops import nms as torchvision_nms
from torchvision.ops.roi_align import _roi_align

from comparison import Found, comparison, drawer, torch_drawer


def load(setting):
    torch.ops.load_library(str(setting.build / "lib/libcachet_ops.so"))
    return torch.ops.cachet


def boxes_of(draw, generator, count, height, width, beyond=0.2):
    """Boxes of all sizes, some without area; their corners lie up to `beyond` sides outside."""
    sides = torch.tensor([1.0 * width, 1.0 * height])
    corner = (torch.rand(count, 2, generator=generator) * (1 + 2 * beyond) - beyond) * sides
    size = torch.rand(count, 2, generator=generator) ** 3 * sides
    size[torch.rand(count, generator=generator) < 0.1] = 0
    return torch.cat([corner, corner + size], 1)


def their_roi_align(x, rows, side, scale, sampling):
    if torchvision_here.HAS_OPERATORS:
        return torch.ops.torchvision.roi_align(x, rows, scale, side, side, sampling or -1, True)
    return _roi_align(x, rows, scale, side, side, sampling or -1, True)


@comparison("torchvision", "roi_align and its gradient, also for boxes without area or with exchanged corners",
            allowed=1e-10)
def roi_align(setting):
    """In float64, where both add up the same numbers in another order."""
    cachet, found, draw = load(setting), Found(0), drawer("roi_align")
    torch.compiler.set_stance("force_eager")  # torchvision's form in Python would be compiled for each shape
    for number in range(160):
        generator, drawn = torch_drawer(f"roi_align {number}"), draw.randrange
        images, channels, height, width = drawn(1, 4), drawn(1, 6), drawn(1, 40), drawn(1, 40)
        scale, side, sampling = draw.choice((1.0, 0.25, 0.0625)), draw.choice((1, 2, 7)), draw.choice((0, 1, 2, 3))
        x = torch.randn(images, channels, height, width, generator=generator, dtype=torch.float64)
        boxes = boxes_of(draw, generator, 30, height, width).double()
        if not torchvision_here.HAS_OPERATORS:
            # Its form in Python repeats the border without an end, its compiled ones read 0 beyond one cell.
            boxes = torch.minimum(boxes.clamp(min=-0.5), torch.tensor([width, height] * 2) + 0.5)
        if sampling:
            inverted = torch.rand(30, generator=generator) < 0.3
            boxes[inverted] = boxes[inverted][:, [2, 1, 0, 3] if number % 2 else [2, 3, 0, 1]]
        rows = torch.cat([torch.randint(images, (30, 1), generator=generator).double(), boxes / scale], 1)
        # The gradient of its form in Python is 0 times infinity for a box without area, if samples are not fixed.
        kept = (boxes[:, 2:] > boxes[:, :2]).all(1) | (sampling > 0) | torchvision_here.HAS_OPERATORS
        cut = [lambda t, of: cachet.roi_align(t, of, side, side, scale, sampling),
               lambda t, of: their_roi_align(t, of, side, scale, sampling)]
        results = [[function(x, rows)] for function in cut]
        for result, function in zip(results, cut):
            leaf = x.clone().requires_grad_()
            y = function(leaf, rows[kept])
            gradient = torch.randn(y.shape, generator=torch_drawer(f"gradient {number}"), dtype=torch.float64)
            result.extend(torch.autograd.grad(y, leaf, gradient))
        for our, their in zip(*results):
            found.add((our - their).abs().max().item(), our.numel())
    if not torchvision_here.HAS_OPERATORS:
        found.note = "compared with torchvision's form in Python, within a cell of the map"
    return found


def kept_by_the_rule(boxes, scores, threshold):
    """nms as torchvision's documentation defines it: for where its compiled operator cannot be loaded."""
    kept, order = [], torch.argsort(scores, descending=True, stable=True).tolist()
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while order:
        best, *order = order
        kept.append(best)
        if order:
            others = boxes[order]
            sides = (torch.minimum(boxes[best, 2:], others[:, 2:]) - torch.maximum(boxes[best, :2], others[:, :2])).clamp(min=0)
            inside = sides[:, 0] * sides[:, 1]
            overlap = inside / (areas[best] + areas[order] - inside)
            order = [index for index, keep in zip(order, (~(overlap > threshold)).tolist()) if keep]
    return torch.tensor(kept)


@comparison("torchvision", "nms: the boxes that remain, and their order", allowed=0, unit=" boxes")
def nms(setting):
    cachet, found, draw = load(setting), Found(0), drawer("nms")
    theirs = torchvision_nms if torchvision_here.HAS_OPERATORS else kept_by_the_rule
    for number in range(200):
        generator, count = torch_drawer(f"nms {number}"), draw.choice((0, 1, 2, 30, 200))
        boxes = boxes_of(draw, generator, count, 60, 80)
        if number % 2:  # on whole pixels, so that overlaps lie at the threshold
            boxes = boxes.round()
        if number % 3 == 0 and count:
            boxes = boxes[torch.randint(count, (count,), generator=generator)]  # some boxes are there twice
        scores = torch.randperm(count, generator=generator).float() / max(count, 1)
        threshold = draw.choice((0.0, 0.3, 0.5, 0.7, 1.0))
        order, kept = cachet.nms(boxes, scores, None, threshold)
        our, their = order[kept].tolist(), theirs(boxes, scores, threshold).tolist()
        found.add(0 if our == their else len(set(our) ^ set(their)) or 1, count)
    if not torchvision_here.HAS_OPERATORS:
        found.note = "compared with its rule in Python"
    return found


@comparison("torchvision", "boxes as deltas and back, as a fraction of the largest", allowed=1e-12)
def box_coding(setting):
    """In float64. Shrinking below 16/1000 of a side is left out: torchvision limits growth alone, mmdetection both."""
    cases, tensors, expected = [], {}, []
    draw = drawer("box coder")
    for number in range(60):
        generator = torch_drawer(f"box coder {number}")
        boxes, targets = (boxes_of(draw, generator, 50, 300, 400).double() for _ in range(2))
        for each in (boxes, targets):
            each[:, 2:] = torch.maximum(each[:, 2:], each[:, :2] + 1)  # logarithms need sides
        deviations = draw.choice(((1, 1, 1, 1), (0.1, 0.1, 0.2, 0.2)))
        coder = BoxCoder(tuple(1 / deviation for deviation in deviations))
        deltas = 3 * torch.randn(50, 4, generator=generator, dtype=torch.float64) / torch.tensor(deviations)
        deltas[:, 2:] = torch.maximum(deltas[:, 2:], -4 / torch.tensor(deviations[2:], dtype=torch.float64))
        for decode, other, theirs in ((False, targets, coder.encode_single(targets, boxes)),
                                      (True, deltas, coder.decode_single(deltas, boxes))):
            names = [f"{number}.{decode}.{what}" for what in ("boxes", "other")]
            tensors.update(zip(names, (boxes, other)))
            cases.append({"boxes": names[0], "other": names[1], "decode": decode, "deviations": deviations})
            expected.append(theirs)
    found = Found(0)
    for our, their in zip(setting.computed("box_coding", cases, tensors), expected):
        found.add(((our - their).abs().max() / their.abs().max()).item(), our.numel())
    return found
