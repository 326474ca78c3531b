"""Attention with trained feature maps instead of the softmax, in time that is linear in the length."""
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
    """A feature map φ that is applied to each head.

    Layer i multiplies its input by weights[i], and applies the activation units[i]. If `units` is empty, φ(x) = x. If
    your own code computes the features, such as those of Performer, use a FeatureMap without units. The dot product of
    the features of a query and the features of a key must not be negative.

    Attributes:
        weights: one tensor (H, n_in, n_out) for each layer, or (1, n_in, n_out) if all heads use the same weight. For a
            gated unit, n_out is the number of channels of both halves together. The unit "elu_plus_one" has no weight.
        units: the activation of each layer. "elu_plus_one" computes elu(x) + 1 of the layer's input x. All activations
            except "elu_plus_one" are applied to the product of the layer's input and its weight. The units "glu" and
            "softplus_glu" split the product of input and weight into two halves a and g. For all other units, a is the
            whole product. The formulas are: "softplus" log(1 + eᵃ), "gelu" a·Φ(a), "sigmoid" σ(a), "glu" a·σ(g),
            "softplus_glu" log(1 + eᵃ)·σ(g).
    """

    weights: Sequence[Tensor] = ()
    units: Sequence[FeatureUnit] = ()


def _numbers(operator: str, feature_map: FeatureMap) -> tuple[list[Tensor], list[int]]:
    units = [number_of(f"{operator}: units", unit, _UNITS) for unit in feature_map.units]
    return list(feature_map.weights), units


def kernel_features(x: Tensor, feature_map: FeatureMap) -> Tensor:
    """Computes φ(x) of a trained feature map: arXiv 2211.04076, p. 2.

    Args:
        x: the queries or keys of each head, (B, H, L, n), floating-point.
        feature_map: φ.

    Returns:
        The features, (B, H, L, m). The result is differentiable in x and the weights, any number of times.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree, or if a value is not valid.
        ValueError: If an activation in feature_map.units has a name that is not valid.
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
    """Computes attention with a feature map φ, in time that is linear in the length.

    The output is y_i = φ(q_i)ᵀ Σ_j φ(k_j) v_jᵀ / (φ(q_i)ᵀ (key_eps·1 + Σ_j φ(k_j)) + eps). The references are trainable
    feed-forward kernels (arXiv 2211.04076) and linear transformers (arXiv 2006.16236, Eq. 5 and 9).

    Args:
        q: the queries, (B, H, Lq, n), floating-point.
        k: the keys, (B or 1, H, Lk, n). If the batch size of k is 1, all samples use the same keys.
        v: the values, (B or 1, H, Lk, e). If the batch size of v is 1, all samples use the same values.
        feature_map: φ.
        padding: (B, Lk), bool. True marks padding, which no query sees.
        causal: if true, query i of the Lq queries sees only those of the Lk keys with an index j ≤ i + Lk − Lq.
        eps: the number that is added to the divisor of the output.
        key_eps: the number that is added to the sum of the keys' features.

    Returns:
        The output, (B, H, Lq, e), in the dtype of q. If a query sees no key, its output is 0. The result is
        differentiable in q, k, v and the weights.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree, or if a value is not valid.
        ValueError: If an activation in feature_map.units has a name that is not valid.
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
    """Computes kernel_attention for one piece of a text. A query also sees the keys of all earlier pieces.

    The argument `sums` represents the keys and values of all earlier pieces of the text.

    Args:
        q: the queries, (B, H, Lq, n), floating-point.
        k: the keys, (B, H, Lk, n).
        v: the values, (B, H, Lk, e).
        feature_map: φ.
        sums: the sums that the call for the previous piece of the text returned. If `sums` is not given, this piece is
            the first piece of the text.
        padding: (B, Lk), bool. True marks padding.
        causal: if true, query i sees only the keys j ≤ i + Lk − Lq of this piece, and all keys of earlier pieces.
        eps: the number that is added to the divisor of the output.

    Returns:
        The output (B, H, Lq, e), and the running sums over all keys so far: (B, H, m, e + 1), in float32 or wider.
        The size of the sums does not depend on the length of the text.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree, or if a value is not valid.
        ValueError: If an activation in feature_map.units has a name that is not valid.
    """
    numbers = _numbers("kernel_attention_stream", feature_map)
    attended, next_sums = _ops.kernel_attention_stream(q, k, v, *numbers, sums, padding, causal, eps)
    return attended, next_sums
