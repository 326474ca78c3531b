"""The gated recurrent cache: its step, and the mixture of self-attention and memory attention."""
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_ops = torch.ops.cachet


class GateWeights(NamedTuple):
    """A linear map of the concatenation [cache, tokens].

    Attributes:
        weight: (D, 2·D); its first D columns meet the cache.
        bias: (D), or None.
    """

    weight: Tensor
    bias: Tensor | None = None


class CandidateNorm(NamedTuple):
    """The LayerNorm of the published code's candidate.

    Attributes:
        weight: (D).
        bias: (D).
        eps: added to the variance.
    """

    weight: Tensor
    bias: Tensor
    eps: float = 1e-5


class GrcUpdated(NamedTuple):
    """What grc_update returns.

    Attributes:
        samples: the cache after the step of each sample, (B, L, D).
        mean: their mean over the batch, (1, L, D), in the dtype of the cache.
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
    """One step of the gated recurrent cache: Cached Transformers, arXiv 2312.12742, Eq. 4–5 and Algorithm 1.

    r = σ(W_r[C, X]), u = σ(W_u[C, X]), C̃ = f(W_c[r ⊙ C, X]), C' = (1 − u) ⊙ C + u ⊙ C̃. f is the identity, as in the
    paper, or with a norm LayerNorm and GELU, as in the published code.

    Args:
        cache: C, (1, L, D), shared by the batch, or (B, L, D).
        tokens: X, (B, L, D), floating.
        reset: W_r.
        update: W_u.
        candidate: W_c.
        norm: the norm of the candidate; None: f is the identity.

    Returns:
        C' of each sample and its mean. Differentiable in everything. Under autocast tokens and weights are brought to
        the autocast dtype.

    Raises:
        RuntimeError: shapes do not agree.
    """
    weights = (*reset, *update, *candidate)
    samples, mean, *_ = _ops.grc_update(cache, tokens, *weights, *(norm or ()))
    return GrcUpdated(samples, mean)


def mix_heads(own: Tensor, memory: Tensor, logit: Tensor) -> Tensor:
    """σ(λ_h)·memory_h + (1 − σ(λ_h))·own_h for each head: arXiv 2312.12742, Eq. 2.

    Args:
        own: the output of self-attention, (B, L, H, d), floating.
        memory: the output of memory attention, (B, L, H, m) of the dtype of own, m ≤ d. Missing channels are zero.
        logit: λ, (H).

    Returns:
        (B, L, H, d) in the dtype of own. Differentiable in everything.

    Raises:
        RuntimeError: shapes or dtypes do not agree.
    """
    mixed: Tensor = _ops.mix_heads(own, memory, logit)
    return mixed
