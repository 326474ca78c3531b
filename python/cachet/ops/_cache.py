"""The gated recurrent cache: its update, and the mixture of self-attention and memory attention."""
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_ops = torch.ops.cachet


class GateWeights(NamedTuple):
    """The weights of a linear map of the concatenation [cache, tokens].

    Attributes:
        weight: (D, 2·D). The first D columns of `weight` multiply the channels of the cache, and the last D columns
            multiply the channels of the tokens.
        bias: (D), or None.
    """

    weight: Tensor
    bias: Tensor | None = None


class CandidateNorm(NamedTuple):
    """The LayerNorm that the published code applies to the candidate C̃ of the gated recurrent cache.

    Attributes:
        weight: (D).
        bias: (D).
        eps: the number that is added to the variance.
    """

    weight: Tensor
    bias: Tensor
    eps: float = 1e-5


class GrcUpdated(NamedTuple):
    """The result of grc_update.

    Attributes:
        samples: the updated cache of each sample, (B, L, D).
        mean: the mean of the updated caches over the batch, (1, L, D), in the dtype of the cache.
    """

    samples: Tensor
    mean: Tensor


def grc_update(
    cache: Tensor,
    tokens: Tensor,
    *,
    reset: GateWeights,
    update: GateWeights,
    candidate: GateWeights,
    norm: CandidateNorm | None = None,
) -> GrcUpdated:
    """Computes one update of the gated recurrent cache: arXiv 2312.12742, Eq. 4–5 and Algorithm 1.

    The equations are r = σ(W_r[C, X]), u = σ(W_u[C, X]), C̃ = f(W_c[r ⊙ C, X]) and C' = (1 − u) ⊙ C + u ⊙ C̃. If `norm`
    is not given, the function f is the identity, as in the paper. If `norm` is given, f is GELU followed by LayerNorm,
    as in the published code.

    Args:
        cache: the cache C, (1, L, D) or (B, L, D). If the batch size of the cache is 1, all samples use the same cache.
        tokens: the tokens X, (B, L, D), floating-point.
        reset: the weights W_r of the reset gate.
        update: the weights W_u of the update gate.
        candidate: the weights W_c of the candidate.
        norm: the LayerNorm of the candidate C̃. If `norm` is not given, the candidate has no GELU and no LayerNorm.

    Returns:
        The updated cache C' of each sample, and the mean of C' over the batch. The result is differentiable in all
        tensor arguments. Under autocast, tokens and weights are cast to the autocast dtype.

    Raises:
        RuntimeError: If the shapes of the arguments do not agree.
    """
    weights = (*reset, *update, *candidate)
    samples, mean, *_ = _ops.grc_update(cache, tokens, *weights, *(norm or ()))
    return GrcUpdated(samples, mean)


def mix_heads(own: Tensor, memory: Tensor, logit: Tensor) -> Tensor:
    """Computes σ(λ_h)·memory_h + (1 − σ(λ_h))·own_h for each head h: arXiv 2312.12742, Eq. 2.

    Args:
        own: the output of self-attention, (B, L, H, d), floating-point.
        memory: the output of memory attention, (B, L, H, m), of the dtype of `own`, with m ≤ d. If m < d, the missing
            channels of `memory` count as zero.
        logit: λ, (H).

    Returns:
        The mixture of memory attention and self-attention, (B, L, H, d), in the dtype of `own`. The result is
        differentiable in all arguments.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree.
    """
    mixed: Tensor = _ops.mix_heads(own, memory, logit)
    return mixed
