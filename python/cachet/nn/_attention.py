"""Multi-head attention, its forms on grids, and attention to a memory."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from cachet import ops
from cachet.nn._caches import Cache, ConcatenatedCache, GatedRecurrentCache, Layout
from cachet.nn._kernels import KernelAttention
from cachet.nn._layers import Linear
from cachet.nn._stream import StreamState
from cachet.nn._windows import Side, WindowOrder, Windows, check_windows, make_windows, relative_index

Branch = Literal["self", "memory"]


def _heads(projected: Tensor, parts: int, heads: int) -> tuple[Tensor, ...]:
    """(B, L, parts·H·d) -> parts tensors (B, H, L, d)."""
    split = projected.view(*projected.shape[:2], parts, heads, projected.shape[2] // (parts * heads))
    apart = split.unbind(2)
    return tuple(part.transpose(1, 2) for part in apart)


def _without_padding(tokens: Tensor, layout: Layout) -> Tensor:
    """Tokens with zeros at the padding."""
    return tokens if layout.padding is None else tokens.masked_fill(layout.padding.unsqueeze(-1), 0)


def _convolution_normal(convolution: nn.Conv2d) -> None:
    """Draws the weights of a convolution as those of the published code are."""
    outputs = convolution.out_channels // convolution.groups * math.prod(convolution.kernel_size)
    nn.init.normal_(convolution.weight, std=math.sqrt(2.0 / outputs))
    nn.init.zeros_(convolution.bias)  # type: ignore[arg-type]


def _hidden_keys(q: Tensor, k: Tensor, padding: Tensor | None, causal: bool) -> Tensor | None:
    """(B or 1, 1, Lq or 1, Lk) bool, True = a key that a query does not see; None: all see all."""
    hidden = None if padding is None else padding[:, None, None, :]
    if causal and q.shape[2] > 1:
        ahead = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1 + k.shape[2] - q.shape[2])
        hidden = ahead[None, None] if hidden is None else hidden | ahead
    return hidden


class MultiHeadAttention(nn.Module):
    """Multi-head attention: projections to heads, attention, a projection back.

    A frozen concatenated cache is the buffers memory_keys and memory_values (1, H, L, d).

    Args:
        dim: channels of query and context.
        num_heads: H, which divides dim.
        projection: "fused": one product for queries, keys and values, for self-attention; "separate": the context is
            another tensor.
        qkv_bias: whether the projections to heads have biases.
        function: how heads attend, such as KernelAttention(num_heads, dim // num_heads); None: softmax.
        cache: further keys and values of the softmax, from the training step before.
        relative_window: height and width of a grid for a learned bias for each offset between two of its tokens.

    Parameters: qkv ("fused") or q, kv ("separate"), proj, and relative_position_bias_table with a relative_window.

    Raises:
        ValueError: the heads do not divide the channels, or a cache or a bias is given without softmax.
    """

    memory_keys: Tensor | None
    memory_values: Tensor | None

    def __init__(
        self,
        dim: int,
        num_heads: int,
        *,
        projection: Literal["fused", "separate"] = "fused",
        qkv_bias: bool = True,
        function: KernelAttention | None = None,
        cache: ConcatenatedCache | None = None,
        relative_window: Side | None = None,
    ) -> None:
        super().__init__()
        if num_heads < 1 or dim < 1 or dim % num_heads:
            raise ValueError(f"multi_head_attention: {num_heads} heads do not divide {dim} channels")
        if function is not None and (cache is not None or relative_window is not None):
            raise ValueError("multi_head_attention: a concatenated cache and a relative window need softmax attention")
        if cache is not None and cache.tokens.shape[2] != dim:
            raise ValueError(f"multi_head_attention: the cache has {cache.tokens.shape[2]} channels, the layer {dim}")
        self.num_heads = num_heads
        self.fused = projection == "fused"
        self.relative_window = relative_window
        if relative_window is not None:
            check_windows(relative_window, (0, 0), "shift_then_pad")
            offsets = (2 * relative_window[0] - 1) * (2 * relative_window[1] - 1)
            self.relative_position_bias_table = nn.Parameter(torch.empty(offsets, num_heads))
            nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)
        if self.fused:
            self.qkv = Linear(dim, 3 * dim, qkv_bias)
        else:
            self.q = Linear(dim, dim, qkv_bias)
            self.kv = Linear(dim, 2 * dim, qkv_bias)
        self.proj = Linear(dim, dim)
        self.function = function
        self.cache = cache
        self.register_buffer("memory_keys", None)
        self.register_buffer("memory_values", None)

    def make_state(self, batch: int, *, decoding: bool = False) -> StreamState:
        """The state of new streams, one in each row of the batch, for Layout.state.

        Args:
            batch: streams.
            decoding: whether the keys and values of earlier pieces stay visible.
        """
        return StreamState(batch, decoding=decoding)

    def forward(
        self,
        query: Tensor,
        context: Tensor | None = None,
        layout: Layout | None = None,
        *,
        context_layout: Layout | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        """Attends from a query to a context.

        Args:
            query: (B, Lq, D).
            context: (B, Lk, D), or with batch 1, shared by all samples; None: the query.
            layout: how the query lies. Without a context, keys are hidden by its padding and its causality.
            context_layout: how a context of its own lies.
            bias: (W, H or 1, Lq, Lk), added to the scores; W divides B: sample b has the bias of b mod W.

        Returns:
            (B, Lq, D), zeros at the query's padding.

        Raises:
            ValueError: a fused projection got a context of its own, or the layer cannot do what the layout asks for.
        """
        where = layout or Layout()
        own = context is None
        place = where if own else (context_layout or Layout())
        q, k, v = self._project(query, context)
        if len(k) != len(q):
            k, v = k.expand(len(q), -1, -1, -1), v.expand(len(q), -1, -1, -1)
        padding, causal = place.padding, own and where.causal
        state = where.state if own and where.state is not None and where.state.decoding else None
        if self.function is not None:
            if bias is not None:
                raise ValueError("multi_head_attention: attention by kernels takes no bias")
            attended = self._by_function(self.function, (q, k, v), padding, causal, state)
        else:
            if state is not None:
                k, v, padding = self._remember(state, k, v, padding)
            if self.relative_window is not None:
                table = self._relative_bias(self.relative_window)
                bias = table if bias is None else bias + table
            if self.cache is not None or self.memory_keys is not None:
                if causal or where.state is not None:
                    raise ValueError(
                        "multi_head_attention: tokens of a concatenated cache have no order: no causal mask or state"
                    )
                source = query if context is None else context
                k, v, padding, bias = self._with_cache(source, (k, v), padding, bias)
            attended = self._attend(q, k, v, padding, causal, bias)
        return _without_padding(self.proj(attended.transpose(1, 2).flatten(2)), where)

    def _project(self, query: Tensor, context: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        if self.fused:
            if context is not None:
                raise ValueError('multi_head_attention: "fused" projections serve self-attention only; use "separate"')
            q, k, v = _heads(self.qkv(query), 3, self.num_heads)
        else:
            k, v = _heads(self.kv(query if context is None else context), 2, self.num_heads)
            (q,) = _heads(self.q(query), 1, self.num_heads)
        return q, k, v

    @staticmethod
    def _by_function(
        function: KernelAttention,
        heads: tuple[Tensor, Tensor, Tensor],
        padding: Tensor | None,
        causal: bool,
        state: StreamState | None,
    ) -> Tensor:
        if state is None:
            return function(*heads, padding=padding, causal=causal)  # type: ignore[no-any-return]
        attended, sums = function.stream(*heads, state.get("sums"), padding=padding, causal=causal)
        state.set("sums", sums)
        return attended

    @staticmethod
    def _remember(
        state: StreamState, k: Tensor, v: Tensor, padding: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Keys, values and padding of earlier pieces, and then those of this one."""
        earlier = state.get("keys")
        before = 0 if earlier is None else earlier.shape[2]
        known = state.get("padding")
        if padding is not None or known is not None:
            def none(length: int) -> Tensor:
                return torch.zeros(len(k), length, dtype=torch.bool, device=k.device)

            if known is None and before:
                state.set("padding", none(before))
            padding = state.append("padding", none(k.shape[2]) if padding is None else padding, 1)
        return state.append("keys", k, 2), state.append("values", v, 2), padding

    def _relative_bias(self, window: Side) -> Tensor:
        table = self.relative_position_bias_table
        tokens = window[0] * window[1]
        rows = table.index_select(0, relative_index(window, table.device))
        return rows.view(tokens, tokens, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    def _project_memory(self, tokens: Tensor) -> tuple[Tensor, ...]:
        """Keys and values of the tokens of a concatenated cache."""
        if not self.fused:
            return _heads(self.kv(tokens), 2, self.num_heads)
        rows = slice(self.qkv.in_features, None)
        part = None if self.qkv.bias is None else self.qkv.bias[rows]
        return _heads(ops.linear(tokens, self.qkv.weight[rows], part), 2, self.num_heads)

    def freeze_cache(self) -> None:
        """Makes the keys and values of a concatenated cache constants, in place.

        Raises:
            ValueError: there is no concatenated cache, it holds no step, or the layer is in training mode.
        """
        if self.cache is None:
            raise ValueError("multi_head_attention: there is no cache to freeze")
        if self.training:
            raise ValueError("multi_head_attention: a frozen cache is for evaluation: call eval() first")
        if not self.cache.holds_step():
            raise ValueError("multi_head_attention: the cache holds no training step")
        with torch.no_grad():
            keys, values = self._project_memory(self.cache.tokens.to(self.proj.weight.dtype))
        self.cache = None
        self.memory_keys, self.memory_values = keys.contiguous(), values.contiguous()

    def _with_cache(
        self, context: Tensor, own: tuple[Tensor, Tensor], padding: Tensor | None, bias: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
        """Keys and values with those of the memory after them, and padding and bias that leave them visible."""
        memory: tuple[Tensor, ...]
        if self.cache is not None:
            tokens = self.cache.step(context, padding)
            if tokens is None:
                return *own, padding, bias
            memory = self._project_memory(tokens.to(context.dtype))
        else:
            assert self.memory_keys is not None and self.memory_values is not None
            memory = self.memory_keys, self.memory_values
        k, v = (
            torch.cat([x, kept.to(x.dtype).expand(len(x), -1, -1, -1)], 2) for x, kept in zip(own, memory, strict=True)
        )
        entries = memory[0].shape[2]
        if padding is not None:
            padding = nn.functional.pad(padding, (0, entries), value=False)
        return k, v, padding, None if bias is None else nn.functional.pad(bias, (0, entries))

    @staticmethod
    def _attend(
        q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, causal: bool, bias: Tensor | None
    ) -> Tensor:
        if padding is None and bias is None and q.shape[2] == k.shape[2]:
            return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        hidden = _hidden_keys(q, k, padding, causal)
        if hidden is None and bias is None:
            return nn.functional.scaled_dot_product_attention(q, k, v)
        if hidden is not None:
            wide = torch.promote_types(q.dtype, torch.float32)
            far = torch.zeros(hidden.shape, dtype=wide, device=q.device).masked_fill(hidden, -math.inf)
            if bias is not None and len(bias) not in (1, len(far)) and len(far) > 1:
                bias = bias.repeat(len(far) // len(bias), 1, 1, 1)
            bias = far if bias is None else bias + far
        assert bias is not None
        if bias.shape[2] != q.shape[2]:
            bias = bias.expand(-1, -1, q.shape[2], -1)
        if len(bias) in (1, len(q)) and hidden is not None and bias.shape[1] == 1:
            attended = nn.functional.scaled_dot_product_attention(q, k, v, bias.to(q.dtype))
            return attended.masked_fill(hidden.all(-1, keepdim=True), 0)  # a query that sees no key
        weights = ops.attention_weights(q @ k.transpose(2, 3), bias.to(q.dtype), scale=q.shape[3] ** -0.5)
        return weights @ v


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
            keys, values = _heads(attention.kv(context), 2, self.num_heads)
        self.register_buffer("keys", keys.contiguous())
        self.register_buffer("values", values.contiguous())
        self.eval()

    def forward(self, query: Tensor, layout: Layout) -> Tensor:
        """(B, Lq, D) -> (B, Lq, D), zeros at the query's padding."""
        (q,) = _heads(self.q(query), 1, self.num_heads)
        k, v = (kept.to(q.dtype).expand(len(q), -1, -1, -1) for kept in (self.keys, self.values))
        if self.function is None:
            attended = nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            attended = self.function(q, k, v)
        return _without_padding(self.proj(attended.transpose(1, 2).flatten(2)), layout)


class SpatialReductionAttention(MultiHeadAttention):
    """Multi-head attention to a context whose grid is reduced first; class tokens stay, but pass the norm.

    Args:
        dim: channels.
        num_heads: H, which divides dim.
        ratio: ratio × ratio tokens become one, by a convolution and a norm; 1: no reduction.
            PVT, arXiv 2102.12122, Eq. 3–4.
        form: "convolution", or "pooling": average pooling to 7 × 7, a 1 × 1 convolution, a norm, GELU (PVT v2 linear,
            arXiv 2106.13797, Sec. 3.2).
        norm: makes the norm of dim channels; None: LayerNorm.
        qkv_bias: whether the projections to heads have biases.
        function: as of MultiHeadAttention.
        cache: as of MultiHeadAttention, with an entry for each token of the reduced context.

    Parameters: q, kv, proj, and with a reduction sr (the convolution) and norm.

    Raises:
        ValueError: the heads do not divide the channels, or the ratio is below 1.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        *,
        ratio: int = 1,
        form: Literal["convolution", "pooling"] = "convolution",
        norm: Callable[[int], nn.Module] | None = None,
        qkv_bias: bool = True,
        function: KernelAttention | None = None,
        cache: ConcatenatedCache | None = None,
    ) -> None:
        super().__init__(dim, num_heads, projection="separate", qkv_bias=qkv_bias, function=function, cache=cache)
        if ratio < 1:
            raise ValueError(f"spatial_reduction_attention: ratio must be at least 1, got {ratio}")
        if form not in ("convolution", "pooling"):
            raise ValueError(f'spatial_reduction_attention: form: "{form}" is not one of "convolution", "pooling"')
        self.pools = form == "pooling"
        self.ratio = 1 if self.pools else ratio
        self.reduces = self.pools or ratio > 1
        if self.reduces:
            self.sr = nn.Conv2d(dim, dim, self.ratio, stride=self.ratio)
            _convolution_normal(self.sr)
            self.norm = nn.LayerNorm(dim, eps=1e-5) if norm is None else norm(dim)

    def reduced(self, context: Tensor, layout: Layout) -> tuple[Tensor, Layout]:
        """The tokens that keys and values are made of, and how they lie.

        Args:
            context: (B, L, D).
            layout: of a grid, without padding.

        Raises:
            ValueError: the context is not on a grid, has padding, or is smaller than the ratio.
        """
        if layout.grid is None or layout.padding is not None:
            raise ValueError("spatial_reduction_attention: the context must lie on a grid, without padding")
        height, width = layout.grid
        if min(height, width) < self.ratio:
            raise ValueError(
                f"spatial_reduction_attention: a grid of {height} x {width} is too small to be reduced by "
                f"{self.ratio}; use a larger image or a smaller ratio"
            )
        on_grid = context[:, layout.class_tokens :].transpose(1, 2).reshape(len(context), -1, height, width)
        if self.pools:
            grid = 7, 7
            pooled = nn.functional.adaptive_avg_pool2d(on_grid, 7).flatten(2).transpose(1, 2)
            tokens = ops.linear(pooled, self.sr.weight.flatten(1), self.sr.bias)
        else:
            grid = height // self.ratio, width // self.ratio
            tokens = self.sr(on_grid).flatten(2).transpose(1, 2)
        if layout.class_tokens:
            tokens = torch.cat([context[:, : layout.class_tokens], tokens], 1)
        tokens = self.norm(tokens)
        return nn.functional.gelu(tokens) if self.pools else tokens, Layout(grid, layout.class_tokens)

    def forward(
        self,
        query: Tensor,
        context: Tensor | None = None,
        layout: Layout | None = None,
        *,
        context_layout: Layout | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        """See MultiHeadAttention.forward; the context lies on a grid."""
        where = layout or Layout()
        if not self.reduces:
            return super().forward(query, context, layout, context_layout=context_layout, bias=bias)
        if where.causal or where.state is not None or bias is not None:
            raise ValueError(
                "spatial_reduction_attention: reduced keys have no order and no pairs: no causal mask, state or bias"
            )
        source, place = (query, where) if context is None else (context, context_layout or Layout())
        keys, lies = self.reduced(source, place)
        return super().forward(query, keys, where, context_layout=lies)


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
        attention: makes the two attentions from their channels and "self" or "memory", such as
            lambda width, branch: SpatialReductionAttention(width, 2, ratio=4); None: MultiHeadAttention.

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
            _convolution_normal(self.position)

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
        return _without_padding(placed, where)


class _InWindows(nn.Module):
    """What the attentions in windows have in common."""

    window: Side
    shift: Side
    order: WindowOrder

    def _set_windows(self, window: Side, shift: Side, order: WindowOrder) -> None:
        check_windows(window, shift, order)
        self.window, self.shift, self.order = window, shift, order
        self._made: tuple[Any, Windows] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}

    def _windows(self, x: Tensor, layout: Layout | None) -> Windows:
        if layout is None or layout.grid is None or layout.class_tokens or layout.padding is not None:
            raise ValueError("window_attention: tokens must lie on a grid, without class tokens or padding")
        if layout.causal or layout.state is not None:
            raise ValueError("window_attention: tokens of a window have no order of their own: no causal mask or state")
        if x.shape[1] != layout.grid[0] * layout.grid[1]:
            raise ValueError(
                f"window_attention: {x.shape[1]} tokens do not lie on a grid of {layout.grid[0]} x {layout.grid[1]}"
            )
        if torch.compiler.is_compiling():
            return make_windows(layout.grid, self.window, self.shift, self.order, x.device)
        key = layout.grid, x.device
        if self._made is None or self._made[0] != key:
            self._made = key, make_windows(layout.grid, self.window, self.shift, self.order, x.device)
        return self._made[1]


class WindowAttention(_InWindows, MultiHeadAttention):
    """Multi-head attention in windows of a map, with a learned bias for each offset: Swin, arXiv 2103.14030.

    Args:
        dim: channels.
        num_heads: H, which divides dim.
        window: height and width.
        shift: rows and columns by which the map is rolled up and left before it is cut, less than the window.
        order: "shift_then_pad" as timm and the classification code: the shift wraps around the map, zeros fill the last
            windows; "pad_then_shift" as the detection code: the shift wraps around the padded map.
        qkv_bias: whether the projections to heads have biases.
        cache: as of MultiHeadAttention, with an entry for each token of a window.

    Parameters: qkv, proj, relative_position_bias_table.

    Raises:
        ValueError: an option is out of its range.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        window: Side,
        *,
        shift: Side = (0, 0),
        order: WindowOrder = "shift_then_pad",
        qkv_bias: bool = True,
        cache: ConcatenatedCache | None = None,
    ) -> None:
        super().__init__(dim, num_heads, qkv_bias=qkv_bias, cache=cache, relative_window=window)
        self._set_windows(window, shift, order)

    def forward(
        self,
        query: Tensor,
        context: Tensor | None = None,
        layout: Layout | None = None,
        *,
        context_layout: Layout | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        """Attends within each window.

        Args:
            query: (B, H·W, D).
            context: None: windows are of self-attention.
            layout: with the grid of the map, without class tokens and padding.
            context_layout: None.
            bias: None.

        Returns:
            (B, H·W, D).

        Raises:
            ValueError: there is a context or a bias, or the layout is not of a grid alone.
        """
        if context is not None or context_layout is not None or bias is not None:
            raise ValueError("window_attention: windows are of self-attention: no context and no bias of its own")
        windows = self._windows(query, layout)
        return windows.merge(super().forward(windows.partition(query), None, Layout(self.window), bias=windows.mask))


class CachedWindowAttention(_InWindows, CachedAttention):
    """CachedAttention in windows of a map. One cache serves all windows; its mean is over all windows of all samples.

    Args:
        dim: channels.
        num_heads: H, which divides dim and Dm.
        cache: for a layer of dim channels; its tokens are a window's.
        window: height and width.
        shift: as of WindowAttention.
        order: as of WindowAttention.
        share_start: as of CachedAttention.
        positional_convolution: as of CachedAttention, over the grid of a window.
        qkv_bias: whether the projections to heads have biases.

    Parts: those of CachedAttention; self_attention has a relative_position_bias_table.

    Raises:
        ValueError: an option is out of its range.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        cache: Cache,
        window: Side,
        *,
        shift: Side = (0, 0),
        order: WindowOrder = "shift_then_pad",
        share_start: float | None = None,
        positional_convolution: bool | None = None,
        qkv_bias: bool = True,
    ) -> None:
        def in_window(channels: int, branch: Branch) -> nn.Module:
            if branch == "self":
                return MultiHeadAttention(channels, num_heads, qkv_bias=qkv_bias, relative_window=window)
            return MultiHeadAttention(channels, num_heads, projection="separate", qkv_bias=qkv_bias)

        super().__init__(
            dim,
            num_heads,
            cache,
            share_start=share_start,
            positional_convolution=positional_convolution,
            attention=in_window,
        )
        self._set_windows(window, shift, order)

    def forward(self, x: Tensor, layout: Layout | None = None, *, bias: Tensor | None = None) -> Tensor:
        """Attends within each window and to the memory; in training, this is one step of the cache.

        Args:
            x: (B, H·W, D).
            layout: with the grid of the map, without class tokens and padding.
            bias: None.

        Returns:
            (B, H·W, D).

        Raises:
            ValueError: there is a bias, or the layout is not of a grid alone.
        """
        if bias is not None:
            raise ValueError("window_attention: windows have no bias of their own")
        windows = self._windows(x, layout)
        return windows.merge(super().forward(windows.partition(x), Layout(self.window), bias=windows.mask))
