"""Operators on boxes."""
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_ops = torch.ops.cachet


class Suppressed(NamedTuple):
    """What nms returns. The selected boxes are `boxes[order[kept]]`.

    Attributes:
        order: (n) int64, the boxes by falling score; equal scores retain their order.
        kept: (n) bool, of the boxes in that order. Sizes do not depend on the boxes, so that a program can be traced.
    """

    order: Tensor
    kept: Tensor


def nms(boxes: Tensor, scores: Tensor, *, threshold: float, groups: Tensor | None = None) -> Suppressed:
    """Greedy non-maximum suppression.

    A box is removed if its intersection over union with an earlier remaining box of its group is above threshold.

    Args:
        boxes: (n, 4), floating: x0, y0, x1, y1.
        scores: (n), floating.
        threshold: of the intersection over union.
        groups: (n) int64, such as classes; None: one group.

    Returns:
        The order and the mask of remaining boxes, without gradients.

    Raises:
        RuntimeError: shapes do not agree.
    """
    return Suppressed(*_ops.nms(boxes, scores, groups, threshold))


def roi_align(
    map: Tensor, boxes: Tensor, *, size: tuple[int, int], scale: float, sampling: int = 0
) -> Tensor:
    """Cuts boxes out of a map, each as height × width bins: He et al., arXiv 1703.06870, aligned.

    Args:
        map: (N, C, H, W), floating.
        boxes: (K, 5), float32 or float64: image, x0, y0, x1, y1, times scale in cells of the map.
        size: height and width of the result, in bins.
        scale: of the boxes to cells of the map: 1 / stride.
        sampling: samples along a side of a bin; 0: as many as the bin has cells there.

    Returns:
        (K, C, height, width) in the dtype of map, laid out as channels_last. Differentiable in the map.

    Raises:
        RuntimeError: shapes do not agree, or on the CPU an image is not there.
    """
    cut: Tensor = _ops.roi_align(map, boxes, *size, scale, sampling)
    return cut
