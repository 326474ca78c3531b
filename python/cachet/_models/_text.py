"""Models of texts: encoders that classify sequences, and language models."""
from __future__ import annotations

import itertools
import math
from typing import cast

import torch
from torch import Tensor, nn

from cachet import ops
from cachet._models._blocks import FeedForward, TransformerBlock
from cachet._models._options import Options
from cachet._models._plug_ins import heads_of, make_norm, normalized, self_attention
from cachet.nn import Layout, Linear, StreamState


def sinusoids(tokens: int, dim: int, like: Tensor, first: int = 0) -> Tensor:
    """Returns the sinusoids of the positions first, first + 1, …: sines and cosines in turn, (1, tokens, dim)."""
    channel = torch.arange((dim + 1) // 2, dtype=torch.float64)
    frequency = torch.exp(channel * (-2 * math.log(10000.0) / dim))
    angle = torch.arange(first, first + tokens, dtype=torch.float64).unsqueeze(1) * frequency
    table = torch.stack([angle.sin(), angle.cos()], 2).flatten(1)[:, :dim].unsqueeze(0).to(torch.float32)
    return table.to(like.device, like.dtype)


class _Embedding(nn.Module):
    def __init__(self, tokens: int, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(tokens, dim))


class _Head(nn.Module):
    """Linear layers fc1, fc2, …, with ReLU between them."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        for i in range(1, len(widths)):
            self.add_module(f"fc{i}", Linear(widths[i - 1], widths[i]))

    def forward(self, x: Tensor) -> Tensor:
        for i, layer in enumerate(self.children()):
            x = layer(torch.relu(x) if i > 0 else x)
        return x


class LongRangeTransformer(nn.Module):
    """The encoder of the Long Range Arena, and its classification heads."""

    def __init__(self, o: Options) -> None:
        super().__init__()
        dim, self.length, self.pairs = o("embed_dim"), o("max_length"), o("pairs")
        self.pooling, self.compared = o("pooling"), o("pair_features", "joined") == "compared"
        self.class_tokens = 1 if self.pooling == "class_token" else 0
        tokens = self.length + self.class_tokens
        self.token_embed = _Embedding(o("vocabulary"), dim)
        if self.class_tokens:
            self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        if o("positions") == "learned":
            self.pos_embed = nn.Parameter(torch.randn(1, tokens, dim) * 0.02)
        heads = heads_of(o, o("num_heads"))
        self.blocks = nn.ModuleList(
            TransformerBlock(
                make_norm(o, dim, 1e-6),
                self_attention(o, dim, heads, tokens, None, self.class_tokens),
                make_norm(o, dim, 1e-6),
                FeedForward(dim, o("mlp_dim")),
            )
            for _ in range(o("depth"))
        )
        self.norm = make_norm(o, dim, 1e-6)
        features = 1 if not self.pairs else 4 if self.compared else 2
        hidden = [max(1, o("mlp_dim") >> layer) for layer in range(o("head_layers") - 1)]
        self.head = _Head([features * dim, *hidden, o("classes")])

    def _encode(self, ids: Tensor, padding: Tensor | None) -> Tensor:
        if ids.dim() != 2 or not 1 <= ids.shape[1] <= self.length:
            raise ValueError(f"ids must be (B, L) with L from 1 to {self.length}, got {list(ids.shape)}")
        x = nn.functional.embedding(ids, self.token_embed.weight)
        if self.class_tokens:
            x = torch.cat([self.cls_token.expand(ids.shape[0], -1, -1), x], 1)
            if padding is not None:
                padding = torch.cat([padding.new_zeros(ids.shape[0], 1), padding], 1)
        if hasattr(self, "pos_embed"):
            x = x + self.pos_embed[:, : x.shape[1]]
        else:
            x = x + sinusoids(x.shape[1], x.shape[2], x)
        layout = Layout(None, self.class_tokens, padding)
        for block in self.blocks:
            x = block(x, layout)
        x = normalized(self.norm, x, padding)
        if self.pooling != "mean":
            return x[:, 0]
        if padding is None:
            return x.mean(1)
        kept = ~padding.unsqueeze(2)
        return (x * kept).sum(1) / kept.sum(1).clamp_min(1)

    def forward(self, ids: Tensor, padding: Tensor | None = None, second: Tensor | None = None,
                second_padding: Tensor | None = None) -> Tensor:
        """Returns the logits of the classes.

        Args:
            ids: (B, L), int64.
            padding: (B, L), bool. True marks padding.
            second: the second sequences, if the model takes pairs.
            second_padding: the padding of the second sequences.

        Returns:
            Logits (B, classes).
        """
        if (second is not None) != self.pairs:
            raise ValueError(f"the inputs must be {'pairs of sequences' if self.pairs else 'single sequences'}")
        u = self._encode(ids, padding)
        if second is None:
            return cast(Tensor, self.head(u))
        v = self._encode(second, second_padding)
        return cast(Tensor, self.head(torch.cat([u, v, u * v, u - v] if self.compared else [u, v], 1)))


class Vocabulary:
    """The clusters of an adaptive vocabulary."""

    def __init__(self, o: Options) -> None:
        self.dim = o("embed_dim")
        tokens, division = o("vocabulary"), o("division", 1)
        width = o("token_dim", 0) or self.dim
        edges = [0, *o("cutoffs", []), tokens]
        self.tokens, self.one_table = tokens, division == 1
        self.clusters = [(first, end - first, width // division**i)
                         for i, (first, end) in enumerate(itertools.pairwise(edges))]
        self.tables = [(0, tokens, width)] if self.one_table else self.clusters
        self.projects = not self.one_table or width != self.dim


class AdaptiveEmbedding(nn.Module):
    """The embeddings of an adaptive vocabulary, multiplied by the square root of the number of channels."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        for i, (_, count, width) in enumerate(vocabulary.tables):
            self.register_parameter(f"table_{i}", nn.Parameter(torch.randn(count, width) * 0.02))
            if vocabulary.projects:
                self.register_parameter(f"projection_{i}", nn.Parameter(torch.randn(vocabulary.dim, width) * 0.01))

    def dtype(self) -> torch.dtype:
        """Returns the dtype of the embeddings."""
        return next(self.parameters()).dtype

    def _embed(self, i: int, ids: Tensor) -> Tensor:
        found = nn.functional.embedding(ids, getattr(self, f"table_{i}"))
        return ops.linear(found, getattr(self, f"projection_{i}")) if self.vocabulary.projects else found

    def forward(self, ids: Tensor) -> Tensor:
        """(…) int64 -> (…, dim)."""
        scale = math.sqrt(self.vocabulary.dim)
        if len(self.vocabulary.tables) == 1:
            return self._embed(0, ids) * scale
        flat = ids.flatten()
        out = torch.zeros(flat.shape[0], self.vocabulary.dim, dtype=self.dtype(), device=flat.device)
        for i, (first, count, _) in enumerate(self.vocabulary.tables):
            rows = ((flat >= first) & (flat < first + count)).nonzero().squeeze(1)
            out = out.index_add(0, rows, self._embed(i, flat[rows] - first))
        return out.view(*ids.shape, -1) * scale


class AdaptiveSoftmax(nn.Module):
    """Computes log p of all tokens of an adaptive vocabulary.

    Tied tables are those of the embedding.
    """

    def __init__(self, o: Options, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.tied, self.projections_tied = o("tie_tables", True), o("tie_projections", True)
        for i, (_, count, width) in enumerate(vocabulary.tables):
            if not self.tied:
                self.register_parameter(f"table_{i}", nn.Parameter(torch.randn(count, width) * 0.02))
            self.register_parameter(f"bias_{i}", nn.Parameter(torch.zeros(count)))
        for i, (_, _, width) in enumerate(vocabulary.clusters):
            if vocabulary.projects and not (self.projections_tied and i > 0):
                self.register_parameter(f"projection_{i}", nn.Parameter(torch.randn(vocabulary.dim, width) * 0.01))
        tails = len(vocabulary.clusters) - 1
        if tails:
            self.cluster_weight = nn.Parameter(torch.randn(tails, vocabulary.clusters[0][2]) * 0.02)
            self.cluster_bias = nn.Parameter(torch.zeros(tails))

    def _scores(self, embedding: AdaptiveEmbedding) -> list[tuple[Tensor, Tensor, Tensor | None]]:
        v = self.vocabulary
        places = range(len(v.tables))
        weights = [getattr(embedding if self.tied else self, f"table_{i}") for i in places]
        biases = [getattr(self, f"bias_{i}") for i in places]
        if v.one_table:
            counts = [count for _, count, _ in v.clusters]
            weights, biases = list(weights[0].split(counts)), list(biases[0].split(counts))
        projections: list[Tensor | None] = [None] * len(v.clusters)
        if v.projects:
            projections = [
                getattr(embedding, f"projection_{0 if v.one_table else i}")
                if self.projections_tied and i > 0 else getattr(self, f"projection_{i}")
                for i in range(len(v.clusters))
            ]
        if len(v.clusters) > 1:
            weights[0] = torch.cat([weights[0], self.cluster_weight])
            biases[0] = torch.cat([biases[0], self.cluster_bias])
        return list(zip(weights, biases, projections, strict=True))

    def forward(self, hidden: Tensor, embedding: AdaptiveEmbedding) -> Tensor:
        """(…, dim) -> (…, tokens), float32 or wider."""
        clusters = self.vocabulary.clusters

        def log_softmax(weight: Tensor, bias: Tensor, projection: Tensor | None) -> Tensor:
            x = hidden if projection is None else ops.linear(hidden, projection.t())
            product = ops.linear(x, weight)
            return (product.to(torch.promote_types(product.dtype, torch.float32)) + bias).log_softmax(-1)

        head, *tails = [log_softmax(*scores) for scores in self._scores(embedding)]
        first = clusters[0][1]
        parts = [head[..., :first]]
        for i, tail in enumerate(tails, 1):
            parts.append(tail + head[..., first + len(clusters) - 1 - i].unsqueeze(-1))
        return torch.cat(parts, -1)


def check_ids(ids: Tensor) -> None:
    """Raises ValueError unless ids are int64, (B, L), with at least one token."""
    if ids.dim() != 2 or ids.dtype != torch.int64 or ids.shape[1] < 1:
        raise ValueError(f"ids must be int64 (B, L) with at least one token, got {ids.dtype} {list(ids.shape)}")


class CausalTransformer(nn.Module):
    """A language model with absolute positions.

    For the text before the current piece, the model can have a cache, or the running sums of kernel attention.
    """

    def __init__(self, o: Options) -> None:
        super().__init__()
        vocabulary = Vocabulary(o)
        dim = vocabulary.dim
        heads = heads_of(o, o("num_heads"))
        self.after, self.whole_past = o("norm_place") == "after", o("whole_past", False)
        self.embedding = AdaptiveEmbedding(vocabulary)
        self.blocks = nn.ModuleList(
            TransformerBlock(
                make_norm(o, dim, 1e-5),
                self_attention(o, dim, heads, o("target_length")),
                make_norm(o, dim, 1e-5),
                FeedForward(dim, o("mlp_dim")),
                self.after,
            )
            for _ in range(o("depth"))
        )
        if not self.after:
            self.norm = make_norm(o, dim, 1e-5)
        self.output = AdaptiveSoftmax(o, vocabulary)

    def make_state(self, batch: int) -> StreamState:
        """Makes the state of new texts, with one text in each batch row."""
        return StreamState(batch, decoding=self.whole_past)

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
        first = 0
        if self.whole_past:
            position = state.get("position")
            first = 0 if position is None else int(position)
            state.set("position", torch.tensor([first + ids.shape[1]]))
        x = self.embedding(ids)
        x = x + sinusoids(ids.shape[1], x.shape[2], x, first)
        for i, block in enumerate(self.blocks):
            x = block(x, Layout(causal=True, state=state.part(f"block_{i}")))
        return cast(Tensor, self.output(x if self.after else normalized(self.norm, x), self.embedding))
