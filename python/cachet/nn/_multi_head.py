"""Multi-head attention, with masks, a bias, feature maps or a concatenated cache."""
from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from cachet import ops
from cachet.nn._caches import ConcatenatedCache, Layout
from cachet.nn._kernels import KernelAttention
from cachet.nn._layers import Linear
from cachet.nn._stream import StreamState
from cachet.nn._windows import Side, check_windows, relative_index


def split_heads(projected: Tensor, parts: int, heads: int) -> tuple[Tensor, ...]:
    """(B, L, parts·H·d) -> a tuple of `parts` tensors (B, H, L, d)."""
    split = projected.view(*projected.shape[:2], parts, heads, projected.shape[2] // (parts * heads))
    apart = split.unbind(2)
    return tuple(part.transpose(1, 2) for part in apart)



def without_padding(tokens: Tensor, layout: Layout) -> Tensor:
    """Returns the tokens, with zeros at the padding."""
    return tokens if layout.padding is None else tokens.masked_fill(layout.padding.unsqueeze(-1), 0)



class MultiHeadAttention(nn.Module):
    """Multi-head attention: projections into the heads, attention, and a projection out of the heads.

    If a concatenated cache is frozen, its keys and values are the buffers memory_keys and memory_values, (1, H, L, d).

    Args:
        dim: the number of channels of query and context.
        num_heads: H, which must divide dim, unless head_dim is given.
        projection: the projections into the heads. "fused": one product computes queries, keys and values, which is
            possible only for self-attention. "separate": the query and the context can be different tensors.
        qkv_bias: whether the projections into the heads have biases.
        function: the attention function, such as KernelAttention(num_heads, dim // num_heads). If `function` is not
            given, the layer computes softmax attention.
        cache: a ConcatenatedCache, which adds keys and values of the previous training step to the softmax.
        relative_window: the height and the width of the grid of tokens for relative position biases. If
            `relative_window` is given, the layer has a learned bias for each offset between two tokens of the grid.
        projection_bias: whether the projection out of the heads has a bias.
        head_dim: the number of channels of a head. None: dim / num_heads.

    The parameters are proj, and either qkv (if projection is "fused") or q and kv (if it is "separate"). If
    `relative_window` is given, the layer also has the parameter relative_position_bias_table.

    Raises:
        ValueError: If num_heads does not divide dim, or if a cache or a relative window is given without softmax
            attention.
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
        projection_bias: bool = True,
        head_dim: int | None = None,
    ) -> None:
        super().__init__()
        if num_heads < 1 or dim < 1 or (head_dim is None and dim % num_heads):
            raise ValueError(
                f"multi_head_attention: num_heads must divide dim, but {num_heads} does not divide {dim}; set "
                "head_dim, the number of channels of each head"
            )
        if head_dim is not None and head_dim < 1:
            raise ValueError(f"multi_head_attention: head_dim must be at least 1, got {head_dim}")
        if function is not None and (cache is not None or relative_window is not None):
            raise ValueError("multi_head_attention: a concatenated cache and a relative window need softmax attention")
        if cache is not None and cache.tokens.shape[2] != dim:
            raise ValueError(
                f"multi_head_attention: the cache must have the {dim} channels of the layer, but has "
                f"{cache.tokens.shape[2]}"
            )
        self.num_heads = num_heads
        self.fused = projection == "fused"
        self.relative_window = relative_window
        if relative_window is not None:
            check_windows(relative_window, (0, 0), "shift_then_pad")
            offsets = (2 * relative_window[0] - 1) * (2 * relative_window[1] - 1)
            self.relative_position_bias_table = nn.Parameter(torch.empty(offsets, num_heads))
            nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)
        inner = num_heads * (dim // num_heads if head_dim is None else head_dim)
        if self.fused:
            self.qkv = Linear(dim, 3 * inner, qkv_bias)
        else:
            self.q = Linear(dim, inner, qkv_bias)
            self.kv = Linear(dim, 2 * inner, qkv_bias)
        self.proj = Linear(inner, dim, projection_bias)
        self.function = function
        self.cache = cache
        self.register_buffer("memory_keys", None)
        self.register_buffer("memory_values", None)

    def make_state(self, batch: int, *, decoding: bool = False) -> StreamState:
        """Makes the state of new texts, with one text in each batch row. Pass the state to the layer as Layout.state.

        Args:
            batch: the number of batch rows.
            decoding: if true, queries also attend to the keys and values of earlier pieces of the text.
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
        """Computes the attention of a query to a context.

        Args:
            query: (B, Lq, D).
            context: the tokens to which the query attends, (B or 1, Lk, D). If the batch size of the context is 1, all
                samples use the same context. If `context` is not given, the layer computes self-attention of the query.
            layout: the layout of the query. If `context` is not given, the keys are the tokens of `query`, and the
                padding and the causal mask of `layout` also hide keys.
            context_layout: the layout of the context. If `context` is not given, context_layout is not used.
            bias: a tensor (W, H or 1, Lq, Lk) that is added to the scores. W must divide B. Sample b uses the bias with
                index b mod W.

        Returns:
            The output, (B, Lq, D), with zeros at padded positions of the query.

        Raises:
            ValueError: If a layer with a fused projection gets a context, or if the layer does not support the layout.
        """
        where = layout or Layout()
        own = context is None
        place = where if own else (context_layout or Layout())
        q, k, v = self._project(query, context)
        padding, causal = place.padding, own and where.causal
        state = where.state if own and where.state is not None and where.state.decoding else None
        if self.function is not None:
            if bias is not None:
                raise ValueError(
                    "multi_head_attention: kernel attention cannot use an attention bias, because linear attention has "
                    "no scores to add it to"
                )
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
                        "multi_head_attention: a concatenated cache cannot be used with a causal mask or a session "
                        "state, because its tokens have no order"
                    )
                source = query if context is None else context
                k, v, padding, bias = self._with_cache(source, (k, v), padding, bias)
            attended = ops.softmax_attention(q, k, v, bias=bias, padding=padding, causal=causal)
        return without_padding(self.proj(attended.transpose(1, 2).flatten(2)), where)

    def _project(self, query: Tensor, context: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        if self.fused:
            if context is not None:
                raise ValueError(
                    "multi_head_attention: fused projections are for self-attention only; for another context, make "
                    'the layer with projection="separate"'
                )
            q, k, v = split_heads(self.qkv(query), 3, self.num_heads)
        else:
            k, v = split_heads(self.kv(query if context is None else context), 2, self.num_heads)
            (q,) = split_heads(self.q(query), 1, self.num_heads)
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
        """Returns the keys, values and padding of earlier pieces and of this piece."""
        earlier = state.get("keys")
        before = 0 if earlier is None else earlier.shape[2]
        known = state.get("padding")
        if padding is not None or known is not None:
            def none(length: int) -> Tensor:
                return torch.zeros(k.shape[0], length, dtype=torch.bool, device=k.device)

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
        """Returns the keys and values of the tokens of a concatenated cache."""
        if not self.fused:
            return split_heads(self.kv(tokens), 2, self.num_heads)
        rows = slice(self.qkv.out_features // 3, None)
        part = None if self.qkv.bias is None else self.qkv.bias[rows]
        return split_heads(ops.linear(tokens, self.qkv.weight[rows], part), 2, self.num_heads)

    def freeze_cache(self) -> None:
        """Replaces the concatenated cache by constant keys and values, in place.

        Raises:
            ValueError: If the layer has no concatenated cache, if this cache stores no training step, or if the layer
                is in training mode.
        """
        if self.cache is None:
            raise ValueError("multi_head_attention: has no cache to freeze")
        if self.training:
            raise ValueError("multi_head_attention: a cache can be frozen only in evaluation; call eval() first")
        if not self.cache.holds_step():
            raise ValueError("multi_head_attention: the cache has no tokens yet, because no training step is stored")
        with torch.no_grad():
            keys, values = self._project_memory(self.cache.tokens.to(self.proj.weight.dtype))
        self.cache = None
        self.memory_keys, self.memory_values = keys.contiguous(), values.contiguous()

    def _with_cache(
        self, context: Tensor, own: tuple[Tensor, Tensor], padding: Tensor | None, bias: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
        """Appends the keys and values of the concatenated cache.

        Returns the keys and values, and the padding and the bias, which do not hide the appended keys.
        """
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
            torch.cat([x, kept.to(x.dtype).expand(x.shape[0], -1, -1, -1)], 2)
            for x, kept in zip(own, memory, strict=True)
        )
        entries = memory[0].shape[2]
        if padding is not None:
            padding = nn.functional.pad(padding, (0, entries), value=False)
        return k, v, padding, None if bias is None else nn.functional.pad(bias, (0, entries))
