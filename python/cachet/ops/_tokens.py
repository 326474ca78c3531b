"""Operators on sequences of tokens (B, L, C)."""
from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from cachet.ops._choices import number_of

_ops = torch.ops.cachet
_AFTER = {"nothing": 0, "gelu": 1}


def dropout(x: Tensor, p: float, *, seed: int | None = None) -> Tensor:
    """Returns x / (1 − p), but each element is 0 with probability p.

    The index of the element and the seed determine which elements are 0 (Philox4x32-10, Salmon et al.,
    doi.org/10.1145/2063384.2063405), for every dtype, device and number of threads. The backward pass computes the mask
    again.

    Args:
        x: a tensor of any shape, floating.
        p: the probability, in [0, 1].
        seed: the seed, int64. None: the seed is drawn from the default generator of the CPU.

    Returns:
        A tensor with the shape and dtype of x. The result is differentiable any number of times.

    Raises:
        RuntimeError: If p is not in [0, 1].
    """
    if seed is None:
        seed = int(torch.randint(-(1 << 63), (1 << 63) - 1, ()).item())
    dropped: Tensor = _ops.dropout(x, p, seed)
    return dropped


def permute_tokens(x: Tensor, index: Tensor, inverse: Tensor) -> Tensor:
    """Computes out[b, i] = x[b, index[i]], and 0 if index[i] is −1.

    Use this operator to cut an image into windows, or to reverse this cut: arXiv 2103.14030.

    Args:
        x: (B, N, C), of any dtype.
        index: (M), int64, in [−1, N). No token may occur twice.
        inverse: (N), int64, in [−1, M): the index of each token in the output. −1: the token is not in the output.

    Returns:
        (B, M, C). The result is differentiable any number of times.

    Raises:
        RuntimeError: If sizes do not agree, or if, on the CPU, an index is out of range.
    """
    permuted: Tensor = _ops.permute_tokens(x, index, inverse)
    return permuted


def resize_tokens(tokens: Tensor, length: int, *, padding: Tensor | None = None) -> Tensor:
    """Resizes a sequence of tokens to another length by nearest neighbours: arXiv 2312.12742, appendix.

    The result is out_i = tokens_⌊i·T/length⌋, where T is the number of valid tokens of the sample. Therefore the result
    never contains padding.

    Args:
        tokens: (B, L, C), with L ≥ 1.
        length: the length of the result, at least 1.
        padding: (B, L), bool. True marks padding.

    Returns:
        (B, length, C). If a sample has only padding, its result is 0. The result is differentiable any number of times.

    Raises:
        RuntimeError: If shapes, dtypes or numbers do not agree.
    """
    resized: Tensor = _ops.resize_tokens(tokens, length, padding)
    return resized


def token_convolution(
    tokens: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    grid: tuple[int, int],
    class_tokens: int = 0,
    addend: Tensor | None = None,
    after: Literal["nothing", "gelu"] = "nothing",
) -> Tensor:
    """Computes a 3 × 3 grouped convolution, with zero padding, of tokens on a grid.

    The published code of arXiv 2312.12742 uses this convolution as its positional encoding. With after="gelu", the
    convolution is the middle part of PVT v2's feed-forward layer, arXiv 2106.13797.

    Args:
        tokens: (B, L, D), floating, with L = class_tokens + height·width. The class tokens come first. The convolution
            adds no value to the class tokens.
        weight: (D, D / groups, 3, 3), of the dtype of tokens.
        bias: (D), or None.
        grid: the height and the width of the grid, in tokens.
        class_tokens: the number of tokens that are not on the grid.
        addend: (B, L, D). The addend is added before GELU.
        after: the operation after the convolution.

    Returns:
        (B, L, D), in the dtype of tokens. The result is differentiable in all tensor arguments.

    Raises:
        RuntimeError: If shapes or dtypes do not agree.
        ValueError: If `after` is not "nothing" or "gelu".
    """
    gelu = number_of("token_convolution: after", after, _AFTER) == 1
    convolved: Tensor = _ops.token_convolution(tokens, weight, bias, addend, *grid, class_tokens, gelu)
    return convolved
