"""Multi-head attention, and attention to a memory."""
from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from cachet import ops
from cachet.nn._caches import Cache, GatedRecurrentCache, Layout
from cachet.nn._kernels import KernelAttention
from cachet.nn._layers import Linear


def _heads(projected: Tensor, parts: int, heads: int) -> tuple[Tensor, ...]:
    """(B, L, parts·H·d) -> parts tensors (B, H, L, d)."""
    split = projected.view(*projected.shape[:2], parts, heads, projected.shape[2] // (parts * heads))
    apart = split.unbind(2)
    return tuple(part.transpose(1, 2) for part in apart)


def _without_padding(tokens: Tensor, layout: Layout) -> Tensor:
    """Tokens with zeros at the padding."""
    return tokens if layout.padding is None else tokens.masked_fill(layout.padding.unsqueeze(-1), 0)


class MultiHeadAttention(nn.Module):
    """Multi-head attention: projections to heads, attention, a projection back.

    Args:
        dim: channels of query and context.
        num_heads: H, which divides dim.
        projection: "fused": one product for queries, keys and values, for self-attention; "separate": the context is
            another tensor.
        qkv_bias: whether the projections to heads have biases.
        function: how heads attend, such as KernelAttention(num_heads, dim // num_heads); None: softmax.

    Parameters: qkv ("fused") or q, kv ("separate"), and proj.

    Raises:
        ValueError: the heads do not divide the channels.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        *,
        projection: Literal["fused", "separate"] = "fused",
        qkv_bias: bool = True,
        function: KernelAttention | None = None,
    ) -> None:
        super().__init__()
        if num_heads < 1 or dim < 1 or dim % num_heads:
            raise ValueError(f"multi_head_attention: {num_heads} heads do not divide {dim} channels")
        self.num_heads = num_heads
        self.fused = projection == "fused"
        if self.fused:
            self.qkv = Linear(dim, 3 * dim, qkv_bias)
        else:
            self.q = Linear(dim, dim, qkv_bias)
            self.kv = Linear(dim, 2 * dim, qkv_bias)
        self.proj = Linear(dim, dim)
        self.function = function

    def forward(self, query: Tensor, context: Tensor | None = None, layout: Layout | None = None) -> Tensor:
        """Attends from a query to a context.

        Args:
            query: (B, Lq, D).
            context: (B, Lk, D), or with batch 1, shared by all samples; None: the query.
            layout: how the query lies. Keys are hidden by its padding and causality only without a context.

        Returns:
            (B, Lq, D), zeros at the query's padding.

        Raises:
            ValueError: a fused projection got a context of its own.
        """
        where = layout or Layout()
        if self.fused:
            if context is not None:
                raise ValueError('multi_head_attention: "fused" projections serve self-attention only; use "separate"')
            q, k, v = _heads(self.qkv(query), 3, self.num_heads)
        else:
            k, v = _heads(self.kv(query if context is None else context), 2, self.num_heads)
            (q,) = _heads(self.q(query), 1, self.num_heads)
        if len(k) != len(q):
            k, v = k.expand(len(q), -1, -1, -1), v.expand(len(q), -1, -1, -1)
        own = context is None
        padding, causal = where.padding if own else None, own and where.causal
        if self.function is None:
            attended = self._attend(q, k, v, padding, causal)
        else:
            attended = self.function(q, k, v, padding=padding, causal=causal)
        return _without_padding(self.proj(attended.transpose(1, 2).flatten(2)), where)

    @staticmethod
    def _attend(q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, causal: bool) -> Tensor:
        if padding is None:
            return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        hidden = padding[:, None, None, :]
        if causal:
            hidden = hidden | torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1)
        bias = torch.zeros(hidden.shape, dtype=torch.promote_types(q.dtype, torch.float32), device=q.device)
        bias = bias.masked_fill(hidden, -math.inf).expand(-1, -1, q.shape[2], -1)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, bias.to(q.dtype))
        return attended.masked_fill(hidden.all(-1, keepdim=True), 0)  # a query that sees no key


class CachedAttention(nn.Module):
    """Self-attention, mixed with attention to a memory: Cached Transformers, arXiv 2312.12742, Eq. 2–3.

    O_h = σ(λ_h)·memory_h + (1 − σ(λ_h))·self_h. Self-attention runs first, then the cache steps, then the first Dm
    channels of the input attend to the cache; the two are mixed head by head after their projections.

    Args:
        dim: D.
        num_heads: H, which divides D and Dm.
        cache: a GatedRecurrentCache or a FifoCache for a layer of dim channels.
        share_start: λ before training; None: 0, or −1 for the official variant of the gated recurrent cache.
        positional_convolution: a 3 × 3 convolution over the grid that is added to the output, in Dm groups; None: only
            for the official variant.
        qkv_bias: whether the projections to heads have biases.

    Parts: self_attention, memory_attention, cache, share (λ), position (the convolution).

    Raises:
        ValueError: the heads do not divide Dm, or Dm does not divide D where there is a positional convolution.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        cache: Cache,
        *,
        share_start: float | None = None,
        positional_convolution: bool | None = None,
        qkv_bias: bool = True,
    ) -> None:
        super().__init__()
        official = isinstance(cache, GatedRecurrentCache) and cache.variant == "official"
        width = cache.tokens.shape[2]
        if num_heads < 1 or width % num_heads:
            raise ValueError(f"cached_attention: {num_heads} heads do not divide the memory's {width} channels")
        self.self_attention = MultiHeadAttention(dim, num_heads, qkv_bias=qkv_bias)
        start = share_start if share_start is not None else (-1.0 if official else 0.0)
        self.share = nn.Parameter(torch.full((num_heads,), start))
        self.memory_attention = MultiHeadAttention(width, num_heads, projection="separate", qkv_bias=qkv_bias)
        self.cache = cache
        self.position: nn.Conv2d | None = None
        if official if positional_convolution is None else positional_convolution:
            if dim % width:
                raise ValueError(
                    f"cached_attention: the positional convolution has a group for each memory channel, and {width} "
                    f"does not divide {dim}; choose another ratio or positional_convolution=False"
                )
            self.position = nn.Conv2d(dim, dim, 3, padding=1, groups=width)
            nn.init.normal_(self.position.weight, std=math.sqrt(2.0 / (dim // width * 9)))
            nn.init.zeros_(self.position.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor, layout: Layout | None = None) -> Tensor:
        """Attends to the tokens and to the memory; in training, this is one step of the cache.

        Args:
            x: (B, L, D), floating.
            layout: how the tokens lie.

        Returns:
            (B, L, D), zeros at the padding.

        Raises:
            ValueError: the positional convolution got tokens without a grid.
            RuntimeError: shapes do not agree.
        """
        where = layout or Layout()
        own = self.self_attention(x, None, where)
        memory = self.cache.step(x, own, where).to(x.dtype)
        attended = self.memory_attention(x[..., : memory.shape[2]], memory, where)
        heads = (len(self.share), -1)
        mixed = ops.mix_heads(own.unflatten(2, heads), attended.unflatten(2, heads), self.share).flatten(2)
        if self.position is None:
            return mixed
        if where.grid is None:
            raise ValueError("cached_attention: the positional convolution needs tokens on a grid")
        placed = ops.token_convolution(
            x, self.position.weight, self.position.bias, grid=where.grid, class_tokens=where.class_tokens, addend=mixed
        )
        return _without_padding(placed, where)
