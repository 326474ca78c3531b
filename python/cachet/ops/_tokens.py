"""Operators on sequences of tokens (B, L, C)."""
from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from cachet.ops._choices import number_of

_ops = torch.ops.cachet
_AFTER = {"nothing": 0, "gelu": 1}


def dropout(x: Tensor, p: float, *, seed: int | None = None) -> Tensor:
    """Returns a copy of x in which each element is 0 with probability p, and all other elements are divided by 1 − p.

    Whether an element is 0 depends only on its index and on the seed (Philox4x32-10, Salmon et al.,
    doi.org/10.1145/2063384.2063405). The positions of the zeros do not depend on the dtype, the device or the number of
    threads. The operator does not store the mask: the backward pass computes the mask again.

    Args:
        x: a floating-point tensor of any shape.
        p: the probability that an element is 0, in [0, 1].
        seed: the seed, int64. If `seed` is not given, PyTorch's default generator of the CPU chooses the seed.

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
        x: the tokens, (B, N, C), of any dtype.
        index: for each token of the output, the index of its token in x, (M), int64, in [−1, N). No index of a token of
            x may occur twice in `index`.
        inverse: for each token of x, its index in the output, (N), int64, in [−1, M). −1 means that the token is not in
            the output.

    Returns:
        The output, (B, M, C). The result is differentiable any number of times.

    Raises:
        RuntimeError: If the sizes of the arguments do not agree, or, on the CPU, if an index is out of range.
    """
    permuted: Tensor = _ops.permute_tokens(x, index, inverse)
    return permuted


def resize_tokens(tokens: Tensor, length: int, *, padding: Tensor | None = None) -> Tensor:
    """Resizes a sequence of tokens to another length by nearest neighbours: arXiv 2312.12742, appendix.

    The result is out_i = tokens_⌊i·T/length⌋, where T is the number of valid tokens of the sample. Only valid tokens
    are copied, so the result never contains padding.

    Args:
        tokens: the tokens, (B, L, C), with L ≥ 1.
        length: the number of tokens of the result, at least 1.
        padding: (B, L), bool. True marks padding.

    Returns:
        The result, (B, length, C). If a sample has only padding, its result is 0. The result is differentiable any
        number of times.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree, or if a value is not valid.
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
        tokens: the tokens, (B, L, D), floating-point, with L = class_tokens + height·width. The class tokens come
            first. At the class tokens, the output of the convolution is 0.
        weight: the weight of the convolution, (D, D / groups, 3, 3), of the dtype of tokens.
        bias: (D), or None.
        grid: the height and the width of the grid, in tokens.
        class_tokens: the number of class tokens, which are not on the grid.
        addend: a tensor (B, L, D) that is added to the output of the convolution, before GELU.
        after: the operation after the convolution, "nothing" or "gelu".

    Returns:
        The output, (B, L, D), in the dtype of tokens. The result is differentiable in all tensor arguments.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree.
        ValueError: If `after` is not "nothing" or "gelu".
    """
    gelu = number_of("token_convolution: after", after, _AFTER) == 1
    convolved: Tensor = _ops.token_convolution(tokens, weight, bias, addend, *grid, class_tokens, gelu)
    return convolved
