"""Transformer-XL, with its memory, with a cache or with memory tokens."""
from __future__ import annotations

import math
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from cachet import ops
from cachet._models._blocks import FeedForward
from cachet._models._options import Options
from cachet._models._plug_ins import Heads, heads_of, make_cache, make_norm, normalized
from cachet._models._text import AdaptiveEmbedding, AdaptiveSoftmax, Vocabulary, check_ids
from cachet.nn import Cache, CachedAttention, Layout, Linear, MultiHeadAttention, StreamState
from cachet.nn._cached_attention import Branch
from cachet.nn._multi_head import split_heads


class Relative(NamedTuple):
    """Sinusoids of the distances to all keys, (keys, dim), and a mask of hidden keys, (queries, keys)."""

    distances: Tensor
    hidden: Tensor


class RelativeAttention(nn.Module):
    """Attention to the tokens and to their distances: arXiv 1901.02860, Sec. 3.3.

    All layers use the biases of the first layer.
    """

    def __init__(self, dim: int, heads: Heads, first: RelativeAttention | None) -> None:
        super().__init__()
        self.heads, self.width = heads.number, heads.width or dim // heads.number
        inner = self.heads * self.width
        self.qkv = Linear(dim, 3 * inner, heads.qkv_bias)
        self.position = Linear(dim, inner, bias=False)
        self.proj = Linear(inner, dim, heads.projection_bias)
        self._first = (first,)  # in a tuple, so that it is not registered here
        if first is None:
            self.content_bias = nn.Parameter(torch.randn(self.heads, self.width) * 0.02)
            self.position_bias = nn.Parameter(torch.randn(self.heads, self.width) * 0.02)

    def forward(self, query: Tensor, context: Tensor, relative: Relative) -> Tensor:
        """Attends from the query (B, L, dim) to the context (B, Lk, dim), whose last tokens are the query."""
        q, k, v = split_heads(self.qkv(context), 3, self.heads)
        q = q[:, :, -query.shape[1] :]
        (r,) = split_heads(self.position(relative.distances.unsqueeze(0)), 1, self.heads)
        owner = self._first[0] or self

        def scores(bias: Tensor, keys: Tensor) -> Tensor:
            return (q + bias.to(q.dtype).unsqueeze(1)) @ keys.transpose(2, 3)

        weights = ops.relative_attention_weights(
            scores(owner.content_bias, k), scores(owner.position_bias, r), hidden=relative.hidden,
            scale=self.width**-0.5,
        )
        return cast(Tensor, self.proj((weights @ v).transpose(1, 2).flatten(2)))


class CachedRelativeAttention(CachedAttention):
    """Relative attention, mixed with attention to a cache."""

    def forward(  # type: ignore[override]
        self, query: Tensor, context: Tensor, relative: Relative, layout: Layout
    ) -> Tensor:
        """Attends from the query (B, L, dim) to the context and to the cache. The context must be the query."""
        return self._with_memory(query, self.self_attention(query, context, relative), layout)


class TransformerXLBlock(nn.Module):
    """A block whose self-attention also attends to the inputs of earlier calls."""

    def __init__(self, o: Options, dim: int, attn: nn.Module) -> None:
        super().__init__()
        self.norm1, self.attn, self.norm2 = make_norm(o, dim, 1e-5), attn, make_norm(o, dim, 1e-5)
        self.mlp = FeedForward(dim, o("mlp_dim"), "relu")
        self.after = o("norm_place") == "after"

    def _attend(self, tokens: Tensor, context: Tensor, relative: Relative, layout: Layout) -> Tensor:
        if isinstance(self.attn, CachedRelativeAttention):
            return cast(Tensor, self.attn(tokens, context, relative, layout.of_part("attn")))
        return cast(Tensor, self.attn(tokens, context, relative))

    def forward(self, x: Tensor, relative: Relative, state: StreamState, memory_length: int) -> Tensor:
        """(B, L, dim) -> (B, L, dim)."""
        memory = state.get("memory")
        context = x if memory is None else torch.cat([memory, x], 1)
        if memory_length:
            state.set("memory", context[:, -memory_length:].detach())
        layout = Layout(causal=True, state=state)
        if self.after:
            x = normalized(self.norm1, x + self._attend(x, context, relative, layout))
            return normalized(self.norm2, x + self.mlp(x, layout))
        normed = normalized(self.norm1, context)
        x = x + self._attend(normed[:, -x.shape[1] :], normed, relative, layout)
        return cast(Tensor, x + self.mlp(normalized(self.norm2, x), layout))


class TransformerXL(nn.Module):
    """A language model with relative positions: arXiv 1901.02860, 2006.11527, 2207.06881."""

    def __init__(self, o: Options) -> None:
        super().__init__()
        vocabulary = Vocabulary(o)
        self.dim = dim = vocabulary.dim
        heads = heads_of(o, o("num_heads"))
        self.memory_length, self.clamp = o("memory_length"), o("clamp_length", 0)
        self.same_length = o("same_length", False)
        self.count, self.recurrent = o("memory_tokens", 0), o("memory_tokens_recurrent", False)
        self.reads_past = o("memory_tokens_read_past", False)
        self.embedding = AdaptiveEmbedding(vocabulary)
        if self.count:
            shape = 1, self.count, dim
            # A parameter that is named as its key.
            self.register_parameter("memory_tokens", nn.Parameter(torch.randn(shape) * 0.02 * math.sqrt(dim)))
        first: list[RelativeAttention] = []

        def relative(width: int, which: Branch) -> nn.Module:
            if which == "memory":
                return MultiHeadAttention(width, heads.number, projection="separate")
            first.append(RelativeAttention(width, heads, first[0] if first else None))
            return first[-1]

        def attention() -> nn.Module:
            cache = make_cache(o, dim, o("target_length"))
            if not isinstance(cache, Cache):
                return relative(dim, "self")
            return CachedRelativeAttention(dim, heads.number, cache, share_start=o("cache.share_start", None),
                                           positional_convolution=False, attention=relative)

        self.blocks = nn.ModuleList(TransformerXLBlock(o, dim, attention()) for _ in range(o("depth")))
        self.output = AdaptiveSoftmax(o, vocabulary)

    def make_state(self, batch: int) -> StreamState:
        """Makes the state of new texts, with one text in each batch row."""
        return StreamState(batch)

    def _relative(self, length: int, past: int, like: Tensor) -> Relative:
        distances = torch.arange(past + length - 1, -1, -1, dtype=torch.float64)
        if self.clamp:
            distances = distances.clamp_max(self.clamp)
        channel = torch.arange((self.dim + 1) // 2, dtype=torch.float64)
        angle = distances.unsqueeze(1) * torch.exp(channel * (-2 * math.log(10000.0) / self.dim))
        table = torch.cat([angle.sin(), angle.cos()], 1).to(like.device, like.dtype)
        apart = torch.arange(length).unsqueeze(1) + past - torch.arange(past + length)
        hidden = apart < 0
        if self.same_length:
            return Relative(table, (hidden | (apart >= self.memory_length)).to(like.device))
        if self.count:
            rows = [(0, self.count), *([(length - self.count, length)] if self.recurrent else [])]
            for row, columns in rows:
                hidden[row : row + self.count, past : past + columns] = False
                if not self.reads_past:
                    hidden[row : row + self.count, :past] = True
        return Relative(table, hidden.to(like.device))

    def forward(self, ids: Tensor, state: StreamState | None = None) -> Tensor:
        """Returns, for each position, log p of every possible next token.

        Args:
            ids: (B, L), int64: the next piece of each text.
            state: the state from make_state, which the calls for earlier pieces have updated. None: these are the first
                pieces.

        Returns:
            (B, L, tokens), float32 or wider.
        """
        check_ids(ids)
        state = self.make_state(ids.shape[0]) if state is None else state
        x = self.embedding(ids)
        if self.count:
            kept = state.get("memory_tokens")
            memory = cast(Tensor, self.memory_tokens).to(x.dtype).expand(ids.shape[0], -1, -1) if kept is None else kept
            x = torch.cat([memory, x, memory] if self.recurrent else [memory, x], 1)
        earlier = state.part("block_0").get("memory")
        relative = self._relative(x.shape[1], 0 if earlier is None else earlier.shape[1], x)
        for i, block in enumerate(self.blocks):
            x = block(x, relative, state.part(f"block_{i}"), self.memory_length)
        if self.recurrent:
            state.set("memory_tokens", x[:, -self.count :])
        return cast(Tensor, self.output(x[:, self.count : self.count + ids.shape[1]], self.embedding))
