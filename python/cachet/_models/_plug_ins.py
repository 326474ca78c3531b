"""Makes the norms, attention functions and caches of a recipe."""
from __future__ import annotations

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from cachet import ops
from cachet._models._options import Options
from cachet.nn import (
    MABN,
    Cache,
    CachedAttention,
    ConcatenatedCache,
    FifoCache,
    GatedRecurrentCache,
    KernelAttention,
    MultiHeadAttention,
    PowerNorm,
    UnifiedNorm,
)
from cachet.nn._cached_attention import Branch


class BatchNorm(nn.BatchNorm1d):
    """Batch normalization over tokens (…, C). Its statistics ignore padding."""

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        """Normalizes tokens."""
        flat = x.reshape(-1, x.shape[-1])
        if padding is None or not self.training:
            return super().forward(flat).view_as(x)
        kept = ~padding.reshape(-1)
        if int(kept.sum()) < 2:
            return x
        return flat.index_put((kept,), super().forward(flat[kept])).view_as(x)


class GroupNorm(nn.Module):
    """A norm with statistics over the tokens of a sample and the channels of a group, without padding."""

    def __init__(self, channels: int, groups: int, eps: float) -> None:
        super().__init__()
        self.groups, self.eps = groups, eps
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        """Normalizes tokens (B, …, C)."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide.reshape(x.shape[0], -1, self.groups, x.shape[-1] // self.groups)
        kept = wide.new_ones(wide.shape[:2]) if padding is None else (~padding).to(wide.dtype).reshape(wide.shape[:2])
        kept = kept[:, :, None, None]
        count = (kept.sum(1, keepdim=True) * wide.shape[3]).clamp_min(1)
        mean = (wide * kept).sum((1, 3), keepdim=True) / count
        centred = wide - mean
        variance = (centred.square() * kept).sum((1, 3), keepdim=True) / count
        return (centred * torch.rsqrt(variance + self.eps)).reshape(x.shape).mul(self.weight).add(self.bias).to(x.dtype)


class NoNorm(nn.Module):
    """The identity."""

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        """Returns x."""
        return x


def normalized(norm: nn.Module, x: Tensor, padding: Tensor | None = None) -> Tensor:
    """Calls a norm of any kind, and returns its output."""
    if isinstance(norm, nn.LayerNorm | nn.RMSNorm):
        return cast(Tensor, norm(x))
    return cast(Tensor, norm(x, padding))


def make_norm(model: Options, channels: int, eps: float) -> nn.Module:
    """Makes the norm of the recipe.

    LayerNorm and RMSNorm have the given eps, unless the recipe sets another value.
    """
    kind = model("norm.kind", "layer")

    def given(key: str, default: Any) -> Any:
        return model(f"norm.{key}", default)

    if kind == "layer":
        return nn.LayerNorm(channels, eps=given("eps", eps))
    if kind == "rms":
        return nn.RMSNorm(channels, eps=given("eps", eps))
    if kind == "batch":
        return BatchNorm(channels, eps=given("eps", 1e-5), momentum=given("momentum", 0.1))
    if kind == "group":
        return GroupNorm(channels, given("groups", 32), given("eps", 1e-5))
    if kind == "instance":
        return GroupNorm(channels, channels, given("eps", 1e-5))
    if kind == "none":
        return NoNorm()
    if kind == "un":
        window, momentum = given("window", 4), given("momentum", 0.9)
        return UnifiedNorm(channels, ops.UnifiedNormSettings(
            forward_window=window,
            backward_window=given("backward_window", window),
            forward_momentum=momentum,
            backward_momentum=given("backward_momentum", momentum),
            eps=given("eps", 1e-5),
            warmup=given("warmup", 4000),
            filter_outliers=given("filter_outliers", True),
            threshold=given("threshold", "pooled"),
            forward_mean=given("forward_mean", "geometric"),
            official=given("variant", "paper") == "official",
        ))
    if kind == "mabn":
        return MABN(channels, window=given("window", 16), momentum=given("momentum", 0.98), eps=given("eps", 1e-5),
                    warmup=given("warmup", 100))
    if kind == "pn":
        momentum = given("momentum", 0.9)
        settings = ops.PowerNormSettings(momentum, given("backward_momentum", momentum), given("eps", 1e-5),
                                         given("warmup", 10_000))
        return PowerNorm(channels, settings, group_scaling=given("group_scaling", True))
    raise model.refuse(f'norm.kind "{kind}"')


class Heads(NamedTuple):
    """The options of heads that all attention modules of a layer have in common."""

    number: int
    qkv_bias: bool
    projection_bias: bool
    width: int | None  # of a head; None: the layer's channels, shared out


def heads_of(model: Options, number: int) -> Heads:
    """Returns the options of the heads of a layer, from the recipe."""
    return Heads(number, model("attention.qkv_bias", True), model("attention.projection_bias", True),
                 model("attention.head_dim", 0) or None)


def make_function(model: Options, heads: Heads, dim: int) -> KernelAttention | None:
    """Makes the attention function of a layer with dim channels. Returns None for softmax."""
    kind = model("attention.kind", "softmax")
    width = heads.width or dim // heads.number
    if kind == "softmax":
        return None
    if kind == "elu":
        return KernelAttention(heads.number, width, "elu", eps=model("attention.eps", 1e-6))
    if kind != "kernel":
        raise model.refuse(f'attention.kind "{kind}"')
    if model("attention.norm", "none") != "none":
        raise model.refuse("a kernel with a norm between its layers")
    return KernelAttention(
        heads.number,
        width,
        model("attention.form"),
        layers=model("attention.layers", 1),
        gate_rank=model("attention.gate_rank", 0),
        head_wise=model("attention.head_wise", True),
        penalty=model("attention.penalty", 0.01),
        eps=model("attention.eps", 0.0),
        activation=model("attention.activation", "gelu"),
    )


def multi_head(model: Options, dim: int, heads: Heads, *, separate: bool = False,
               cache: ConcatenatedCache | None = None) -> MultiHeadAttention:
    """Makes the multi-head attention of the recipe."""
    return MultiHeadAttention(
        dim,
        heads.number,
        projection="separate" if separate else "fused",
        qkv_bias=heads.qkv_bias,
        projection_bias=heads.projection_bias,
        head_dim=heads.width,
        function=make_function(model, heads, dim),
        cache=cache,
    )


def make_cache(model: Options, dim: int, tokens: int, grid: tuple[int, int] | None = None, class_tokens: int = 0,
               pool: int = 1) -> Cache | ConcatenatedCache | None:
    """Makes the cache of a layer with dim channels and the given number of tokens.

    If grid is given, the tokens are on this grid. Returns None if the recipe has no cache.
    """
    kind = model("cache.kind", "none")
    if kind == "none":
        return None
    if kind == "concatenated":
        return ConcatenatedCache(dim, tokens)
    scope = "batch_row" if model("cache.scope", "batch_mean") in ("lane", "batch_row") else "batch_mean"
    length = model("cache.length", None)
    if length is None and grid is None:
        length = tokens
    common: dict[str, Any] = {"ratio": model("cache.ratio"), "scope": scope, "grid": grid, "class_tokens": class_tokens}
    if kind == "fifo":
        return FifoCache(dim, length, **common)
    if kind != "grc":
        raise model.refuse(f'cache.kind "{kind}"')
    return GatedRecurrentCache(
        dim,
        length,
        variant=model("cache.variant", "paper"),
        attend=model("cache.attend", None),
        inference=model("cache.inference", None),
        gates=model("cache.gates", "learned"),
        pool=pool if pool > 1 else model("cache.pool", 1),
        gradient=model("cache.gradient", "recompute"),
        **common,
    )


def self_attention(model: Options, dim: int, heads: Heads, tokens: int, grid: tuple[int, int] | None = None,
                   class_tokens: int = 0) -> nn.Module:
    """Makes the self-attention of a layer, with a cache if the recipe has one."""
    cache = make_cache(model, dim, tokens, grid, class_tokens)
    if not isinstance(cache, Cache):
        return multi_head(model, dim, heads, cache=cache)

    def branch(width: int, which: Branch) -> nn.Module:
        return multi_head(model, width, heads, separate=which == "memory")

    return with_cache(model, dim, heads, cache, branch)


def with_cache(model: Options, dim: int, heads: Heads, cache: Cache, make: Any) -> CachedAttention:
    """Makes attention that is mixed with attention to a cache."""
    return CachedAttention(
        dim,
        heads.number,
        cache,
        share_start=model("cache.share_start", None),
        positional_convolution=model("cache.positional_convolution", None),
        attention=make,
    )
