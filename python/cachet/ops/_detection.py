"""Operators on boxes."""
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_ops = torch.ops.cachet


class Suppressed(NamedTuple):
    """The result of nms. The selected boxes are `boxes[order[kept]]`.

    Attributes:
        order: (n), int64: the indices of the boxes from the highest score to the lowest. Equal scores keep their order.
        kept: (n), bool: whether each box is selected, in the order of `order`. The sizes of the results do not depend
            on the values of the boxes, so a program with nms can be traced.
    """

    order: Tensor
    kept: Tensor


def nms(boxes: Tensor, scores: Tensor, *, threshold: float, groups: Tensor | None = None) -> Suppressed:
    """Computes greedy non-maximum suppression.

    Boxes are processed from the highest score to the lowest. If the intersection over union of a box with an earlier
    selected box of its group is above threshold, the box is removed.

    Args:
        boxes: (n, 4), floating: x0, y0, x1, y1.
        scores: (n), floating.
        threshold: the largest intersection over union that does not remove a box.
        groups: (n), int64, such as the classes of the boxes. None: all boxes are in one group.

    Returns:
        The order and the mask of the selected boxes, without gradients.

    Raises:
        RuntimeError: If shapes do not agree.
    """
    return Suppressed(*_ops.nms(boxes, scores, groups, threshold))


def roi_align(
    map: Tensor, boxes: Tensor, *, size: tuple[int, int], scale: float, sampling: int = 0
) -> Tensor:
    """Cuts boxes out of a map, and pools each box to height × width bins: He et al., arXiv 1703.06870.

    Boxes are aligned: their coordinates are those of pixel corners.

    Args:
        map: (N, C, H, W), floating.
        boxes: (K, 5), float32 or float64: the index of the image, x0, y0, x1, y1. The coordinates, multiplied by scale,
            are in cells of the map.
        size: the height and the width of the result, in bins.
        scale: the factor from the coordinates of the boxes to cells of the map: 1 / stride.
        sampling: the number of samples along each side of a bin. 0: as many samples as the bin has cells along this
            side.

    Returns:
        (K, C, height, width), in the dtype of map and the memory format channels_last. The result is differentiable in
        map.

    Raises:
        RuntimeError: If shapes do not agree, or if, on the CPU, the index of an image is out of range.
    """
    cut: Tensor = _ops.roi_align(map, boxes, *size, scale, sampling)
    return cut
