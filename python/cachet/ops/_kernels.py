"""Attention with trained kernels in place of the softmax, linear in the length."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from cachet.ops._choices import number_of

_ops = torch.ops.cachet

FeatureUnit = Literal["elu_plus_one", "softplus", "gelu", "sigmoid", "glu", "softplus_glu"]
_UNITS = {"elu_plus_one": 0, "softplus": 1, "gelu": 2, "sigmoid": 3, "glu": 4, "softplus_glu": 5}


class FeatureMap(NamedTuple):
    """A feature map φ, applied to each head: unit i of the product with weight i.

    No units: φ(x) = x, for features that are made elsewhere, such as Performer's; their products have to be
    non-negative.

    Attributes:
        weights: (H, n_in, n_out) each, or (1, n_in, n_out) where heads share it. n_out counts both halves of a gated
            unit. "elu_plus_one" takes no weight.
        units: what a layer makes of its product a, or [a, g] if it is gated: "elu_plus_one" elu(a) + 1 of the input
            itself, "softplus" log(1 + eᵃ), "gelu" a·Φ(a), "sigmoid" σ(a), "glu" a·σ(g), "softplus_glu"
            log(1 + eᵃ)·σ(g).
    """

    weights: Sequence[Tensor] = ()
    units: Sequence[FeatureUnit] = ()


def _numbers(operator: str, feature_map: FeatureMap) -> tuple[list[Tensor], list[int]]:
    units = [number_of(f"{operator}: units", unit, _UNITS) for unit in feature_map.units]
    return list(feature_map.weights), units


def kernel_features(x: Tensor, feature_map: FeatureMap) -> Tensor:
    """φ(x) of a trained kernel: arXiv 2211.04076, p. 2.

    Args:
        x: (B, H, L, n), floating.
        feature_map: φ.

    Returns:
        (B, H, L, m). Differentiable in x and the weights, any number of times.

    Raises:
        RuntimeError: shapes, dtypes or numbers do not agree.
        ValueError: a unit that does not exist.
    """
    features: Tensor = _ops.kernel_features(x, *_numbers("kernel_features", feature_map))
    return features


def kernel_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    feature_map: FeatureMap,
    *,
    padding: Tensor | None = None,
    causal: bool = False,
    eps: float = 0.0,
    key_eps: float = 0.0,
) -> Tensor:
    """y_i = φ(q_i)ᵀ Σ_j φ(k_j) v_jᵀ / (φ(q_i)ᵀ (key_eps·1 + Σ_j φ(k_j)) + eps), linear in the length.

    Trainable feed-forward kernels, arXiv 2211.04076; linear transformers, arXiv 2006.16236, Eq. 5 and 9.

    Args:
        q: (B, H, Lq, n), floating.
        k: (B, H, Lk, n), or with batch 1, shared by all samples.
        v: (B, H, Lk, e), as k.
        feature_map: φ.
        padding: (B, Lk) bool, True = padding, which never enters.
        causal: query i sees the keys j ≤ i + Lk − Lq.
        eps: added to the divisor.
        key_eps: added to the sum of the keys' features.

    Returns:
        (B, H, Lq, e) in the dtype of q; zeros for a query that sees no key. Differentiable in q, k, v and the weights.

    Raises:
        RuntimeError: shapes, dtypes or numbers do not agree.
        ValueError: a unit that does not exist.
    """
    attended: Tensor = _ops.kernel_attention(
        q, k, v, *_numbers("kernel_attention", feature_map), padding, causal, eps, key_eps
    )
    return attended


def kernel_attention_stream(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    feature_map: FeatureMap,
    sums: Tensor | None = None,
    *,
    padding: Tensor | None = None,
    causal: bool = False,
    eps: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """kernel_attention of a piece of a text: queries also see the keys of all earlier pieces, through stored sums.

    Args:
        q: (B, H, Lq, n), floating.
        k: (B, H, Lk, n).
        v: (B, H, Lk, e).
        feature_map: φ.
        sums: what the call of the piece before returned; None for the first piece.
        padding: (B, Lk) bool, True = padding.
        causal: query i sees the keys j ≤ i + Lk − Lq of this piece.
        eps: added to the divisor.

    Returns:
        (B, H, Lq, e), and the sums for the next piece, (B, H, m, e + 1) in float32 or wider. Their size does not depend
        on the text's length.

    Raises:
        RuntimeError: shapes, dtypes or numbers do not agree.
        ValueError: a unit that does not exist.
    """
    numbers = _numbers("kernel_attention_stream", feature_map)
    attended, next_sums = _ops.kernel_attention_stream(q, k, v, *numbers, sums, padding, causal, eps)
    return attended, next_sums
