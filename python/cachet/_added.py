"""Adds caches to the attention modules of models that were not made with Cachet."""
from __future__ import annotations

import fnmatch
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from cachet.nn import (
    Cache,
    CachedAttention,
    FifoCache,
    GatedRecurrentCache,
    KernelAttention,
    Layout,
    MultiHeadAttention,
)
from cachet.nn._caches import cache_width


class CachesAdded(NamedTuple):
    """The result of add_cache.

    Attributes:
        added: the names of the attention modules that got a cache.
        left: the names of the attention modules that got no cache, each with the reason.
        change: the relative change of the model's output for the example, with untrained caches: ‖new − old‖ / ‖old‖.
            If no example is given, `change` has the value None.
    """

    added: list[str]
    left: dict[str, str]
    change: float | None


class CacheBeside(CachedAttention):
    """An attention module of another package, mixed with attention to a cache as in CachedAttention.

    Args:
        attention: the attention module. The first argument of the module must be tokens, (B, L, D). The module must
            return tokens of this shape, or a tuple whose first value is these tokens.
        dim: D, the number of channels of the layer.
        num_heads: H, which must divide Dm.
        cache: the cache for a layer with dim channels.
        share_start: the value of λ before training.

    The parts are those of CachedAttention. The part self_attention is the given module, with its weights.
    """

    def __init__(self, attention: nn.Module, dim: int, num_heads: int, cache: Cache, share_start: float) -> None:
        def make(channels: int, branch: str) -> nn.Module:
            if branch == "self":
                return attention
            return MultiHeadAttention(channels, num_heads, projection="separate")

        super().__init__(
            dim, num_heads, cache, share_start=share_start, positional_convolution=False, attention=make
        )

    def forward(self, x: Tensor, *arguments: Any, **named: Any) -> Any:
        """Calls the given module, and mixes its output with attention to the cache.

        In training, each call updates the cache by one step.

        Args:
            x: (B, L, D).
            arguments: the other positional arguments of the given module.
            named: the keyword arguments of the given module.
        """
        made = self.self_attention(x, *arguments, **named)
        own = made[0] if isinstance(made, tuple) else made
        mixed = self._with_memory(x, own, Layout())
        return (mixed, *made[1:]) if isinstance(made, tuple) else mixed


def attention_size(module: nn.Module) -> tuple[int, int] | None:
    """Channels and heads of an attention of timm, Transformers or this package, by the names of its parts."""
    heads = getattr(module, "num_heads", getattr(module, "num_attention_heads", None))
    ends = getattr(module, "proj", getattr(module, "o_proj", None))
    starts = any(hasattr(module, name) for name in ("qkv", "q", "q_proj"))
    if isinstance(heads, int) and isinstance(ends, nn.Linear) and starts:
        return ends.out_features, heads
    # ViT of Transformers before 5.9: two parts, and neither a norm nor a residual connection between them.
    inner, output = getattr(module, "attention", None), getattr(module, "output", None)
    heads, ends = getattr(inner, "num_attention_heads", None), getattr(output, "dense", None)
    if isinstance(heads, int) and isinstance(ends, nn.Linear) and hasattr(inner, "query"):
        assert isinstance(output, nn.Module)
        return None if any("Norm" in type(part).__name__ for part in output.modules()) else (ends.out_features, heads)
    return None


def add_cache(
    model: nn.Module,
    length: int,
    *,
    kind: Literal["grc", "fifo"] = "grc",
    ratio: float = 0.5,
    share_start: float = -4.0,
    cache: Callable[[int], Cache] | None = None,
    only: str = "*",
    example: Any = None,
) -> CachesAdded:
    """Gives each attention module of a model a cache, in place: Cached Transformers, arXiv 2312.12742.

    add_cache does not change the weights that the model has. The untrained caches change the output only a little,
    because λ starts at −4 by default, and σ(−4) is 0.018. After add_cache, train the model.

    Args:
        model: a model, such as a ViT, Swin or PVT v2 of timm, or a ViT of Transformers.
        length: the number of tokens of each cache.
        kind: "grc": a gated recurrent cache. "fifo": a first-in-first-out cache.
        ratio: the number of channels of the cache, divided by the number of channels of the layer.
        share_start: the value of λ before training.
        cache: a function that makes the cache of a layer from its number of channels. If `cache` is given, the
            arguments length, kind and ratio are not used.
        only: a pattern of names, such as "blocks.*". Only attention modules whose names match the pattern get a cache.
        example: an input of the model (a tensor, or a tuple of several tensors), for which the change of the output is
            measured.

    Returns:
        The result lists the attention modules that got a cache, and the attention modules without a new cache, each
        with the reason. The result also has the relative change of the model's output.

    Raises:
        ValueError: If an option is out of its range, or if no attention module got a cache.
    """
    if kind not in ("grc", "fifo"):
        raise ValueError(f'add_cache: kind: "{kind}" is not one of "grc", "fifo"')
    cache_width(ratio, 1_000_000)
    make = cache or (lambda dim: (GatedRecurrentCache if kind == "grc" else FifoCache)(dim, length, ratio=ratio))
    before = _output(model, example)
    result, done = CachesAdded([], {}, None), list[str]()
    for name, module in list(model.named_modules()):
        if any(name.startswith(f"{outer}.") for outer in done) or not fnmatch.fnmatchcase(name, only):
            continue
        has_cache = isinstance(module, CachedAttention) or (
            isinstance(module, MultiHeadAttention) and module.cache is not None
        )
        known = isinstance(module, CachedAttention | MultiHeadAttention) or type(module).__name__.endswith("Attention")
        if not known or isinstance(module, KernelAttention):
            continue
        size, reason = attention_size(module), None
        if has_cache:
            reason = "it already has a cache"
        elif not name:
            reason = "it is the model itself, and add_cache can replace only parts of a model"
        elif size is None:
            if any(attention_size(part) for part in module.modules() if part is not module):
                continue  # the attention lies inside
            reason = f"add_cache does not recognise the attention in a {type(module).__name__}"
        done.append(name)
        if reason is None and size is not None:
            reason = _put_beside(model, name, module, size, make, share_start)
        if reason is None:
            result.added.append(name)
        else:
            result.left[name] = reason
    if not result.added:
        left = "; ".join(f"{name or 'the model'}: {reason}" for name, reason in result.left.items()) or "none found"
        raise ValueError(f'add_cache: no attention module whose name matches "{only}" can have a cache ({left})')
    return result._replace(change=_change(before, _output(model, example)))


def _put_beside(
    model: nn.Module,
    name: str,
    module: nn.Module,
    size: tuple[int, int],
    make: Callable[[int], Cache],
    share_start: float,
) -> str | None:
    """Puts a cache next to an attention module. Returns the reason if this is not possible, and otherwise None."""
    dim, heads = size
    try:
        made = CacheBeside(module, dim, heads, make(dim), share_start)
    except ValueError as error:
        return str(error)
    weight = next(module.parameters())
    made.memory_attention.to(weight.device, weight.dtype)
    assert made.cache is not None
    made.cache.to(weight.device, weight.dtype)
    made.share.data = made.share.data.to(weight.device, weight.dtype)
    parent, _, child = name.rpartition(".")
    setattr(model.get_submodule(parent), child, made.train(module.training))
    return None


def _output(model: nn.Module, example: Any) -> Tensor | None:
    """Returns the first tensor of the model's output for an example in evaluation.

    The mode of the model does not change.
    """
    if example is None:
        return None
    modes = {module: module.training for module in model.modules()}
    model.eval()
    with torch.no_grad():
        made = model(*example) if isinstance(example, tuple) else model(example)
    for module, mode in modes.items():
        module.training = mode
    while not isinstance(made, Tensor):
        made = made[0]
    return made


def _change(before: Tensor | None, after: Tensor | None) -> float | None:
    if before is None or after is None:
        return None
    return float((after - before).norm() / before.norm().clamp_min(1e-30))
