"""Self-attention, mixed with attention to a cache."""
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
    """Multi-head attention to a fixed context, whose keys and values are constants.

    A FixedContextAttention is for evaluation only.

    Args:
        attention: a layer with separate projections, with softmax or kernel attention. The FixedContextAttention uses
            the parts q, proj and function of the given layer.
        context: (1, L, D).
        layout: the layout of the context.

    The parameters are q and proj. The buffers are `keys` and `values`, both (1, H, L, d).

    Raises:
        ValueError: If the attention has a fused projection, a relative window or a concatenated cache.
    """

    keys: Tensor
    values: Tensor

    def __init__(self, attention: MultiHeadAttention, context: Tensor, layout: Layout) -> None:
        super().__init__()
        if attention.fused or attention.relative_window is not None or attention.cache is not None:
            raise ValueError(
                "fixed_context_attention: the attention must have separate projections, and neither a relative window "
                "nor a concatenated cache"
            )
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
        """(B, Lq, D) -> (B, Lq, D), with zeros at padded positions of the query."""
        (q,) = split_heads(self.q(query), 1, self.num_heads)
        k, v = self.keys.to(q.dtype), self.values.to(q.dtype)
        attended = ops.softmax_attention(q, k, v) if self.function is None else self.function(q, k, v)
        return without_padding(self.proj(attended.transpose(1, 2).flatten(2)), layout)



class CachedAttention(nn.Module):
    """Self-attention, mixed with attention to a cache: Cached Transformers, arXiv 2312.12742, Eq. 2–3.

    The output of head h is O_h = σ(λ_h)·memory_h + (1 − σ(λ_h))·self_h, where memory_h is the output of memory
    attention and self_h that of self-attention. The layer first computes self-attention, and then calls cache.step. In
    memory attention, the first Dm channels of the input attend to the tokens of the cache. Self-attention and memory
    attention have separate output projections. The channels of the two projected outputs are then divided into H equal
    groups, and group h is mixed with λ_h.

    Args:
        dim: D, the number of channels of the layer.
        num_heads: H, the number of heads. H must divide D and the number Dm of the cache's channels.
        cache: a GatedRecurrentCache or a FifoCache for a layer with dim channels.
        share_start: the value of λ before training. If `share_start` is not given, λ starts at −1 for the variant
            "official" of the gated recurrent cache, and otherwise at 0.
        positional_convolution: whether a 3 × 3 convolution over the grid, with Dm groups, is added to the output. If
            `positional_convolution` is not given, the convolution is added only for the variant "official" of the gated
            recurrent cache.
        qkv_bias: whether the projections into the heads have biases.
        attention: a function that makes the attention layer of one branch. The function has two arguments: the number
            of channels, and the name of the branch ("self" or "memory"). An example of such a function is
            `lambda width, branch: SpatialReductionAttention(width, 2, ratio=4)`. If `attention` is not given, both
            branches are MultiHeadAttention layers.

    The parts of the layer are self_attention, memory_attention, cache, share (λ) and position (the convolution).

    Raises:
        ValueError: If num_heads does not divide Dm, or if there is a positional convolution and Dm does not divide D.
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
            raise ValueError(
                f"cached_attention: num_heads must divide the number of memory channels, but {num_heads} does not "
                f"divide {width}"
            )

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
                    "cached_attention: the positional convolution has one group for each memory channel, so the number "
                    f"of memory channels must divide dim, but {width} does not divide {dim}; choose another ratio, or "
                    "positional_convolution=False"
                )
            self.position = nn.Conv2d(dim, dim, 3, padding=1, groups=width)
            draw_convolution(self.position)

    def make_state(self, batch: int, *, decoding: bool = False) -> StreamState:
        """Makes the state of new texts, with one text in each batch row. Pass the state to the layer as Layout.state.

        Args:
            batch: the number of batch rows.
            decoding: if true, the queries of self-attention also attend to the keys and values of earlier pieces.
        """
        return StreamState(batch, decoding=decoding)

    def forward(self, x: Tensor, layout: Layout | None = None, *, bias: Tensor | None = None) -> Tensor:
        """Computes self-attention and attention to the cache. In training, each call updates the cache by one step.

        Args:
            x: the tokens, (B, L, D), floating-point.
            layout: the layout of the tokens.
            bias: the bias of self-attention, see MultiHeadAttention.forward.

        Returns:
            The output, (B, L, D), with zeros at padded positions.

        Raises:
            ValueError: If the layer has a positional convolution, but the tokens have no grid.
            RuntimeError: If the shapes of the arguments do not agree, or if the cache needs a state and the layout has
                no state.
        """
        where = layout or Layout()
        own = self.self_attention(x, None, where.of_part("self_attention"), bias=bias)
        return self._with_memory(x, own, where)

    def freeze_cache(self) -> None:
        """Replaces the keys and values of the cache by constants, in place.

        After freeze_cache(), the layer has neither a cache nor the gates of the cache.

        Raises:
            ValueError: If the layer is in training mode, the cache is already frozen, or the cache depends on the input
                in evaluation.
        """
        if self.cache is None:
            raise ValueError("cached_attention: the cache is already frozen")
        if self.training:
            raise ValueError("cached_attention: a cache can be frozen only in evaluation; call eval() first")
        varies = self.cache.why_memory_varies()
        if varies is not None:
            raise ValueError(varies)
        assert isinstance(self.memory_attention, MultiHeadAttention)
        tokens = self.cache.tokens.to(self.memory_attention.proj.weight.dtype)
        self.memory_attention = FixedContextAttention(self.memory_attention, tokens, self.cache.layout)
        self.cache = None

    def _with_memory(self, x: Tensor, own: Tensor, where: Layout) -> Tensor:
        """Returns the output of self-attention, mixed with attention to the cache."""
        reader = where._replace(causal=False, state=None)
        if self.cache is None:
            if self.training:
                raise RuntimeError("cached_attention: a cache can be frozen only in evaluation; call eval() first")
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
