"""Makes the caches of a trained model constants."""
from __future__ import annotations

from typing import NamedTuple

from torch import nn

from cachet.nn import CachedAttention, MultiHeadAttention


class CachesFrozen(NamedTuple):
    """What freeze did.

    Attributes:
        frozen: names of the layers whose caches are constants now.
        left: names of the layers whose caches stay, each with the reason.
    """

    frozen: list[str]
    left: dict[str, str]


def freeze(model: nn.Module) -> CachesFrozen:
    """Makes the caches of a model constant keys and values, in place.

    Evaluation then computes neither gates nor the keys and values of the memory. The model is for evaluation alone. Its
    outputs stay the same but for roundings.

    Args:
        model: in evaluation mode.

    Returns:
        The names of the layers with a frozen cache, and of those that keep theirs, with the reason.

    Raises:
        ValueError: the model is in training mode, or no cache was frozen.
    """
    if model.training:
        raise ValueError("freeze: a frozen cache is for evaluation: call eval() first")
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
        left = "; ".join(f"{name}: {reason}" for name, reason in result.left.items()) or "none there"
        raise ValueError(f"freeze: no cache can be frozen ({left})")
    return result
