"""Linear layers with what follows them: nothing, GELU, or a cross entropy."""
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_ops = torch.ops.cachet


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Computes x·weightᵀ + bias, like torch.nn.functional.linear.

    PyTorch can call two libraries for the product x·weightᵀ, and this operator calls the faster of the two.

    Args:
        x: the input, (…, K), floating-point.
        weight: the weight, (N, K), of the dtype of x.
        bias: (N), or None.

    Returns:
        A tensor (…, N). The result is differentiable in all arguments.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree.
    """
    product: Tensor = _ops.linear(x, weight, bias)
    return product


def linear_gelu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Computes GELU(x·weightᵀ + bias), which is the first half of a transformer's feed-forward layer.

    Args:
        x: the input, (…, K), floating-point.
        weight: the weight, (N, K), of the dtype of x.
        bias: (N).

    Returns:
        A tensor (…, N). The result is differentiable in all arguments. For the backward pass, the operator stores only
        the product x·weightᵀ. If no argument requires a gradient, the operator stores nothing.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree.
    """
    keep = torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad or bias.requires_grad)
    output: Tensor = _ops.linear_gelu(x, weight, bias, keep)[0]
    return output


class CrossEntropies(NamedTuple):
    """The result of linear_cross_entropy. Both tensors have one value for each row, (N), in nats, in float32 or wider.

    If the target of a row is −1, the loss and the negative log-likelihood of this row are 0.

    Attributes:
        loss: the cross entropy with the smoothed target. Training minimizes this loss.
        negative_log_likelihood: −log p of the target, without label smoothing. Report the negative log-likelihood, for
            example for perplexity, because it does not depend on the label smoothing. The negative log-likelihood has
            no gradient.
    """

    loss: Tensor
    negative_log_likelihood: Tensor


def linear_cross_entropy(
    x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, *, label_smoothing: float = 0.0
) -> CrossEntropies:
    """Computes the cross entropy of softmax(x·weightᵀ + bias), without storing the scores.

    Args:
        x: the input, (N, D), floating-point.
        weight: the weight of the V classes, (V, D), of the dtype of x.
        bias: (V), or None.
        target: the class of each row, (N), int64, in [−1, V). −1 marks a row without a target.
        label_smoothing: ε in [0, 1). As in fairseq, the probability ε is divided among the V − 1 classes other than the
            target.

    Returns:
        The loss and the negative log-likelihood of each row. The loss is differentiable once, in x, weight and bias.

    Raises:
        RuntimeError: If the shapes of the arguments do not agree, or if a target is not a class.
    """
    wanted = x.requires_grad or weight.requires_grad or (bias is not None and bias.requires_grad)
    keep = torch.is_grad_enabled() and wanted
    loss, likelihood, _ = _ops.linear_cross_entropy(x, weight, bias, target, label_smoothing, keep)
    return CrossEntropies(loss, likelihood)
