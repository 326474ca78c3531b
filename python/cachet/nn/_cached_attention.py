"""Self-attention mixed with attention to a memory."""
from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn

from cachet import ops
from cachet.nn._caches import Cache, GatedRecurrentCache, Layout
from cachet.nn._layers import draw_convolution
from cachet.nn._multi_head import MultiHeadAttention, split_heads, without_padding
from cachet.nn._spatial_reduction import SpatialReductionAttention
from cachet.nn._stream import StreamState

Branch = Literal["self", "memory"]


class FixedContextAttention(nn.Module):
    """Multi-head attention to a context that is always the same: its keys and values are constants. For evaluation.

    Args:
        attention: with a context of its own and softmax or kernels; its q, proj and function are taken over.
        context: (1, L, D).
        layout: how the context lies.

    Parameters: q, proj; buffers: keys, values (1, H, L, d).

    Raises:
        ValueError: queries and keys of the attention share a projection.
    """

    keys: Tensor
    values: Tensor

    def __init__(self, attention: MultiHeadAttention, context: Tensor, layout: Layout) -> None:
        super().__init__()
        if attention.fused or attention.relative_window is not None or attention.cache is not None:
            raise ValueError("fixed_context_attention: needs an attention to a context of its own")
        self.num_heads = attention.num_heads
        self.q, self.proj, self.function = attention.q, attention.proj, attention.function
        with torch.no_grad():
            if isinstance(attention, SpatialReductionAttention) and attention.reduces:
                context, _ = attention.reduced(context, layout)
            keys, values = split_heads(attention.kv(context), 2, self.num_heads)
        self.register_buffer("keys", keys.contiguous())
        self.register_buffer("values", values.contiguous())
        self.eval()

    def forward(self, query: Tensor, layout: Layout) -> Tensor:
        """(B, Lq, D) -> (B, Lq, D), zeros at the query's padding."""
        (q,) = split_heads(self.q(query), 1, self.num_heads)
        k, v = self.keys.to(q.dtype), self.values.to(q.dtype)
        attended = ops.softmax_attention(q, k, v) if self.function is None else self.function(q, k, v)
        return without_padding(self.proj(attended.transpose(1, 2).flatten(2)), layout)



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
        attention: a function that returns the attention of one branch, given its number of channels and the branch
            ("self" or "memory"). For example, lambda width, branch: SpatialReductionAttention(width, 2, ratio=4).
            None: MultiHeadAttention.

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
        attention: Callable[[int, Branch], nn.Module] | None = None,
    ) -> None:
        super().__init__()
        official = isinstance(cache, GatedRecurrentCache) and cache.variant == "official"
        width = cache.tokens.shape[2]
        if num_heads < 1 or width % num_heads:
            raise ValueError(f"cached_attention: {num_heads} heads do not divide the memory's {width} channels")

        def plain(channels: int, branch: Branch) -> nn.Module:
            projection: Literal["fused", "separate"] = "fused" if branch == "self" else "separate"
            return MultiHeadAttention(channels, num_heads, projection=projection, qkv_bias=qkv_bias)

        make = plain if attention is None else attention
        self.self_attention = make(dim, "self")
        start = share_start if share_start is not None else (-1.0 if official else 0.0)
        self.share = nn.Parameter(torch.full((num_heads,), start))
        self.memory_attention = make(width, "memory")
        self.cache: Cache | None = cache
        self.width = width
        self.position: nn.Conv2d | None = None
        if official if positional_convolution is None else positional_convolution:
            if dim % width:
                raise ValueError(
                    f"cached_attention: the positional convolution has a group for each memory channel, and {width} "
                    f"does not divide {dim}; choose another ratio or positional_convolution=False"
                )
            self.position = nn.Conv2d(dim, dim, 3, padding=1, groups=width)
            draw_convolution(self.position)

    def make_state(self, batch: int, *, decoding: bool = False) -> StreamState:
        """The state of new streams, one in each row of the batch, for Layout.state.

        Args:
            batch: streams.
            decoding: whether self-attention sees the keys and values of earlier pieces.
        """
        return StreamState(batch, decoding=decoding)

    def forward(self, x: Tensor, layout: Layout | None = None, *, bias: Tensor | None = None) -> Tensor:
        """Attends to the tokens and to the memory; in training, this is one step of the cache.

        Args:
            x: (B, L, D), floating.
            layout: how the tokens lie.
            bias: as of MultiHeadAttention.forward, for self-attention.

        Returns:
            (B, L, D), zeros at the padding.

        Raises:
            ValueError: the positional convolution got tokens without a grid.
            RuntimeError: shapes do not agree, or the cache needs a state that is not there.
        """
        where = layout or Layout()
        own = self.self_attention(x, None, where.of_part("self_attention"), bias=bias)
        return self._with_memory(x, own, where)

    def freeze_cache(self) -> None:
        """Makes the keys and values of the memory constants, in place: neither cache nor gates are left.

        Raises:
            ValueError: the layer is in training mode, or what it reads in evaluation depends on its input.
        """
        if self.cache is None:
            raise ValueError("cached_attention: the cache is frozen already")
        if self.training:
            raise ValueError("cached_attention: a frozen cache is for evaluation: call eval() first")
        varies = self.cache.why_memory_varies()
        if varies is not None:
            raise ValueError(varies)
        assert isinstance(self.memory_attention, MultiHeadAttention)
        tokens = self.cache.tokens.to(self.memory_attention.proj.weight.dtype)
        self.memory_attention = FixedContextAttention(self.memory_attention, tokens, self.cache.layout)
        self.cache = None

    def _with_memory(self, x: Tensor, own: Tensor, where: Layout) -> Tensor:
        """What self-attention made of the tokens, mixed with attention to the memory."""
        reader = where._replace(causal=False, state=None)
        if self.cache is None:
            if self.training:
                raise RuntimeError("cached_attention: a frozen cache is for evaluation: call eval() first")
            attended = self.memory_attention(x[..., : self.width], reader)
        else:
            memory = self.cache.step(x, own, where.of_part("cache")).to(x.dtype)
            attended = self.memory_attention(x[..., : self.width], memory, reader, context_layout=self.cache.layout)
        heads = len(self.share)
        # The width of a head is given: an empty batch leaves it open.
        mixed = ops.mix_heads(
            own.reshape(*own.shape[:2], heads, own.shape[2] // heads),
            attended.reshape(*attended.shape[:2], heads, attended.shape[2] // heads),
            self.share,
        ).flatten(2)
        if self.position is None:
            return mixed
        if where.grid is None:
            raise ValueError("cached_attention: the positional convolution needs tokens on a grid")
        placed = ops.token_convolution(
            x, self.position.weight, self.position.bias, grid=where.grid, class_tokens=where.class_tokens, addend=mixed
        )
        return without_padding(placed, where)
