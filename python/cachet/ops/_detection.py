"""Operators on boxes."""
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_ops = torch.ops.cachet


class Suppressed(NamedTuple):
    """The result of nms. The selected boxes are `boxes[order[kept]]`.

    Attributes:
        order: (n), int64: the indices of the boxes from the highest score to the lowest. Boxes with equal scores keep
            their order.
        kept: (n), bool: whether each box is selected, in the order of `order`. The sizes of the results do not depend
            on the values of the boxes, so a program with nms can be traced.
    """

    order: Tensor
    kept: Tensor


def nms(boxes: Tensor, scores: Tensor, *, threshold: float, groups: Tensor | None = None) -> Suppressed:
    """Computes greedy non-maximum suppression.

    Boxes are processed from the highest score to the lowest. A box is removed if its intersection over union with an
    earlier selected box of the same group is above threshold.

    Args:
        boxes: the corners x0, y0, x1, y1 of each box, (n, 4), floating-point.
        scores: the score of each box, (n), floating-point.
        threshold: the threshold of the intersection over union. A box is removed only if its intersection over union
            with an earlier selected box is above the threshold.
        groups: the group of each box, such as its class, (n), int64. If `groups` is not given, all boxes are in one
            group.

    Returns:
        The order of the boxes, and the mask of the selected boxes. Both results are without gradients.

    Raises:
        RuntimeError: If the shapes of the arguments do not agree.
    """
    return Suppressed(*_ops.nms(boxes, scores, groups, threshold))


def roi_align(
    map: Tensor, boxes: Tensor, *, size: tuple[int, int], scale: float, sampling: int = 0
) -> Tensor:
    """Cuts boxes out of feature maps, and pools each box to height × width bins: He et al., arXiv 1703.06870.

    Coordinates of boxes count from the corner of the first pixel, not from its center (aligned RoIAlign).

    Args:
        map: the feature maps of N images, (N, C, H, W), floating-point.
        boxes: (K, 5), float32 or float64. Each row has the index of an image, and the corners x0, y0, x1, y1 of a box
            in this image.
        size: the height and the width of the result, in bins.
        scale: the factor that converts coordinates of boxes to cells of the map, which is 1 / stride.
        sampling: the number of samples along each side of a bin. If `sampling` is 0, the number of samples is the
            length of the bin's side in cells of the map, rounded up.

    Returns:
        The pooled boxes, (K, C, height, width), in the dtype of map and the memory format channels_last. The result is
        differentiable in the argument `map`.

    Raises:
        RuntimeError: If the shapes of the arguments do not agree, or if, on the CPU, the index of an image is out of
            range.
    """
    cut: Tensor = _ops.roi_align(map, boxes, *size, scale, sampling)
    return cut
