"""Operators on sequences of tokens (B, L, C)."""
from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from cachet.ops._choices import number_of

_ops = torch.ops.cachet
_AFTER = {"nothing": 0, "gelu": 1}


def dropout(x: Tensor, p: float, *, seed: int | None = None) -> Tensor:
    """Dropout: x / (1 − p), each element 0 instead with probability p.

    What is dropped is a function of the element's index and the seed (Philox4x32-10, Salmon et al.,
    doi.org/10.1145/2063384.2063405), whatever the dtype, the device and the number of threads. The backward pass makes
    the mask again.

    Args:
        x: floating, of any shape.
        p: in [0, 1].
        seed: int64; None: drawn from the default generator of the CPU.

    Returns:
        The shape and dtype of x. Differentiable any number of times.

    Raises:
        RuntimeError: p is not in [0, 1].
    """
    if seed is None:
        seed = int(torch.randint(-(1 << 63), (1 << 63) - 1, ()).item())
    dropped: Tensor = _ops.dropout(x, p, seed)
    return dropped


def permute_tokens(x: Tensor, index: Tensor, inverse: Tensor) -> Tensor:
    """out[b, i] = x[b, index[i]], 0 where index[i] is −1: windows of an image and their inverse, arXiv 2103.14030.

    Args:
        x: (B, N, C) of any dtype.
        index: (M) int64 in [−1, N); no token twice.
        inverse: (N) int64 in [−1, M): where each token went, −1 for those left out.

    Returns:
        (B, M, C). Differentiable any number of times.

    Raises:
        RuntimeError: sizes do not agree, or on the CPU an index is out of range.
    """
    permuted: Tensor = _ops.permute_tokens(x, index, inverse)
    return permuted


def resize_tokens(tokens: Tensor, length: int, *, padding: Tensor | None = None) -> Tensor:
    """Tokens at another length by nearest neighbours: arXiv 2312.12742, appendix.

    out_i = tokens_⌊i·T/length⌋, where T is the number of the sample's valid tokens, so that padding never enters.

    Args:
        tokens: (B, L, C), L ≥ 1.
        length: of the result, at least 1.
        padding: (B, L) bool, True = padding.

    Returns:
        (B, length, C); zeros for a sample of padding alone. Differentiable any number of times.

    Raises:
        RuntimeError: shapes, dtypes or numbers do not agree.
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
    """A 3 × 3 convolution in groups over tokens where they lie, zero beyond the border.

    It is the positional encoding of the published code of arXiv 2312.12742, and with after="gelu" the middle of PVT
    v2's feed-forward layer, arXiv 2106.13797.

    Args:
        tokens: (B, L, D), floating, L = class_tokens + height·width. Class tokens come first and get nothing.
        weight: (D, D / groups, 3, 3) of the dtype of tokens.
        bias: (D), or None.
        grid: height and width, in tokens.
        class_tokens: how many tokens are off the grid.
        addend: (B, L, D), added before GELU.
        after: what follows the convolution.

    Returns:
        (B, L, D) in the dtype of tokens. Differentiable in everything.

    Raises:
        RuntimeError: shapes or dtypes do not agree.
        ValueError: `after` is not one of its choices.
    """
    gelu = number_of("token_convolution: after", after, _AFTER) == 1
    convolved: Tensor = _ops.token_convolution(tokens, weight, bias, addend, *grid, class_tokens, gelu)
    return convolved
