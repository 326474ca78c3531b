"""Replaces the caches of a trained model by constants."""
from __future__ import annotations

from typing import NamedTuple

from torch import nn

from cachet.nn import CachedAttention, MultiHeadAttention


class CachesFrozen(NamedTuple):
    """The result of freeze.

    Attributes:
        frozen: the names of the layers whose caches are now constants.
        left: the names of the layers whose caches were not frozen, each with the reason.
    """

    frozen: list[str]
    left: dict[str, str]


def freeze(model: nn.Module) -> CachesFrozen:
    """Replaces the keys and values of the caches of a model by constants, in place.

    After freeze(), the model no longer computes gates, keys and values of the frozen caches. The frozen model can be
    used only in evaluation. Freezing does not change the outputs of the model, except for rounding.

    Args:
        model: a model in evaluation mode.

    Returns:
        The result lists the layers whose caches were frozen, and the layers whose caches were not frozen, each with the
        reason.

    Raises:
        ValueError: If the model is in training mode, or if no cache was frozen.
    """
    if model.training:
        raise ValueError("freeze: a cache can be frozen only in evaluation; call eval() first")
    result = CachesFrozen([], {})
    for name, layer in list(model.named_modules()):
        has_cache = isinstance(layer, CachedAttention | MultiHeadAttention) and layer.cache is not None
        if not isinstance(layer, CachedAttention | MultiHeadAttention) or not has_cache:
            continue
        try:
            layer.freeze_cache()
            result.frozen.append(name)
        except ValueError as error:
            result.left[name] = str(error)
    if not result.frozen:
        left = "; ".join(f"{name}: {reason}" for name, reason in result.left.items()) or "none found"
        raise ValueError(f"freeze: no cache can be frozen ({left})")
    return result
