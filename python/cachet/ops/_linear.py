"""Linear layers with what follows them: nothing, GELU, or a cross entropy."""
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_ops = torch.ops.cachet


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x·weightᵀ + bias, as torch.nn.functional.linear, by the faster of the two libraries that PyTorch has.

    Args:
        x: (…, K), floating.
        weight: (N, K) of the dtype of x.
        bias: (N), or None.

    Returns:
        (…, N). Differentiable in everything.

    Raises:
        RuntimeError: shapes or dtypes do not agree.
    """
    product: Tensor = _ops.linear(x, weight, bias)
    return product


def linear_gelu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """GELU(x·weightᵀ + bias): the first half of a transformer's feed-forward layer.

    Args:
        x: (…, K), floating.
        weight: (N, K) of the dtype of x.
        bias: (N).

    Returns:
        (…, N). Differentiable in everything. The backward pass stores only the product. Without gradients,
        nothing is stored.

    Raises:
        RuntimeError: shapes or dtypes do not agree.
    """
    keep = torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad or bias.requires_grad)
    output: Tensor = _ops.linear_gelu(x, weight, bias, keep)[0]
    return output


class CrossEntropies(NamedTuple):
    """What linear_cross_entropy returns: both (N), in float32 or wider, in nats; 0 for a row whose target is −1.

    Attributes:
        loss: of the smoothed target, what is trained on.
        negative_log_likelihood: of the target alone, what is reported; it has no gradient.
    """

    loss: Tensor
    negative_log_likelihood: Tensor


def linear_cross_entropy(
    x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, *, label_smoothing: float = 0.0
) -> CrossEntropies:
    """The cross entropy of softmax(x·weightᵀ + bias), whose scores are not stored.

    Args:
        x: (N, D), floating.
        weight: (V, D) of the dtype of x.
        bias: (V), or None.
        target: (N) int64 in [−1, V); −1 marks a row without a target.
        label_smoothing: ε in [0, 1), which the other V − 1 classes share, as in fairseq.

    Returns:
        The loss and the negative log likelihood. Differentiable once in x, weight and bias.

    Raises:
        RuntimeError: shapes do not agree, or a target is not a class.
    """
    wanted = x.requires_grad or weight.requires_grad or (bias is not None and bias.requires_grad)
    keep = torch.is_grad_enabled() and wanted
    loss, likelihood, _ = _ops.linear_cross_entropy(x, weight, bias, target, label_smoothing, keep)
    return CrossEntropies(loss, likelihood)
