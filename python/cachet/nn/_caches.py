"""Caches that attention layers read: memories of earlier batches."""
from __future__ import annotations

import abc
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from cachet import ops
from cachet.nn._layers import Linear
from cachet.nn._processes import mean_over_processes
from cachet.nn._state import StateModule
from cachet.nn._stream import StreamState

Scope = Literal["batch_mean", "batch_row"]


class Layout(NamedTuple):
    """The layout of the tokens in a call of a layer: grid, class tokens, padding, causality and state.

    Attributes:
        grid: the height and the width of the grid of the tokens that follow the class tokens. The tokens of the grid
            are in row-major order. If `grid` is not given, the tokens are not on a grid.
        class_tokens: the number of class tokens. Class tokens come before the tokens of the grid.
        padding: (B, L), bool. True marks padding.
        causal: if true, each query sees only its own token and earlier tokens.
        state: the state that the layer stored for earlier pieces of the texts; each batch row has one text. If `state`
            is not given, the call does not depend on earlier calls.
    """

    grid: tuple[int, int] | None = None
    class_tokens: int = 0
    padding: Tensor | None = None
    causal: bool = False
    state: StreamState | None = None

    def of_part(self, name: str) -> Layout:
        """Returns a copy of this layout for one part of the layer. The state of the copy is the state of this part."""
        return self if self.state is None else self._replace(state=self.state.part(name))


def cache_width(ratio: float, dim: int) -> int:
    """Returns the number of channels of the memory of a layer with dim channels: ratio·dim, rounded down.

    Raises:
        ValueError: If the ratio is out of its range, or if the memory would have no channel.
    """
    if not 0 < ratio <= 1:
        raise ValueError(f"cache: ratio must be above 0 and at most 1, got {ratio}")
    if int(dim * ratio) < 1:
        raise ValueError(f"cache: ratio {ratio} of {dim} channels leaves no channel; raise the ratio")
    return int(dim * ratio)


class Cache(StateModule, abc.ABC):
    """The base class of caches of fixed length. Either all samples use one cache, or each batch row has its own cache.

    The only buffer of a cache is `tokens`, (1, Tm, Dm): Tm tokens of Dm channels. The initial values of `tokens` are
    zeros.
    """

    tokens: Tensor

    def __init__(self, name: str, length: int, width: int, scope: Scope, layout: Layout) -> None:
        super().__init__()
        if length < 1:
            raise ValueError(f"cache: length must be at least 1, got {length}")
        self.name, self.layout = name, layout
        self.scope = _one_of(name, "scope", scope, ("batch_mean", "batch_row"))
        self.register_buffer("tokens", torch.zeros(1, length, width))

    @abc.abstractmethod
    def step(self, input: Tensor, self_output: Tensor, layout: Layout) -> Tensor:
        """Returns the tokens that memory attention reads, (B or 1, Tm, Dm).

        In training, this call also stores the updated cache, without a gradient.

        Args:
            input: the input tokens of the layer, (B, L, D).
            self_output: the output of self-attention for the tokens of input, (B, L, D).
            layout: the layout of the tokens. If the scope is "batch_row", layout.state has the caches of the batch
                rows, which also change in evaluation.
        """

    @abc.abstractmethod
    def why_memory_varies(self) -> str | None:
        """Returns the reason why the tokens of memory attention depend on the input in evaluation, or None.

        Returns None if the tokens of memory attention do not depend on the input in evaluation.
        """

    def reset(self) -> None:
        """Sets the cache to zero, which is its value before the first step."""
        self.tokens.zero_()

    def _stream(self, layout: Layout, why: str) -> StreamState:
        if layout.state is None:
            raise RuntimeError(f"{self.name}: {why} needs the session's state in Layout.state (layer.make_state)")
        if not torch.compiler.is_compiling() and torch._C._current_graph_task_id() != -1:
            raise RuntimeError(
                f"{self.name}: gradient checkpointing repeats a forward pass, but the session's state cannot be reset "
                "to an earlier piece; leave this layer out of the checkpointed part"
            )
        return layout.state

    def _begin(self) -> Tensor:
        """Returns the buffer that this call reads and, in training, writes."""
        return self._state_of_step(self.name)["tokens"] if self.training else self.tokens


def _length_and_layout(
    length: int | None, grid: tuple[int, int] | None, class_tokens: int, pool: int, name: str
) -> tuple[int, Layout]:
    """Returns the length of a cache, and the layout of its tokens.

    If `length` is given, the tokens of the cache have no grid.
    """
    if length is not None:
        return length, Layout()
    if grid is None:
        raise ValueError(f"{name}: needs a length, or the grid of the layer's tokens")
    pooled = (grid[0] + pool - 1) // pool, (grid[1] + pool - 1) // pool
    return class_tokens + pooled[0] * pooled[1], Layout(pooled, class_tokens)


class GatedRecurrentCache(Cache):
    """The gated recurrent cache: Cached Transformers, arXiv 2312.12742, Eq. 3–5 and Algorithm 1 (ops.grc_update).

    In training, memory attention reads the updated cache. The layer stores the mean of the updated caches over the
    samples of the batch, without a gradient. Causal layers first read the stored cache and then update the cache, so
    queries do not see future tokens.

    Args:
        dim: D, the number of channels of the layer.
        length: Tm, the number of tokens of the cache. If the samples do not have Tm tokens, their tokens are
            interpolated to Tm tokens. If `length` is not given, Tm is the number of cells of the pooled grid plus the
            number of class tokens. If `length` is not given, the tokens of the cache are on the pooled grid, as spatial
            reduction requires.
        ratio: Dm / D, where Dm is the number of channels of the cache.
        variant: "paper": the cache of arXiv 2312.12742. "official": the cache of the code that the authors of this
            paper published. In the variant "official", the cache is updated from the output of self-attention, and the
            candidate has GELU and LayerNorm.
        attend: the cache that memory attention reads in training. "mean": the mean of the samples' caches.
            "per_sample": the cache of the sample itself. If `attend` is not given, it is "per_sample" for the variant
            "official" or the scope "batch_row", and otherwise "mean".
        inference: the cache that memory attention reads in evaluation. "frozen": the stored cache. "per_sample": the
            stored cache, updated with the tokens of the sample. "updated": the cache that the earlier pieces of the
            text have updated. If `inference` is not given and the scope is "batch_row", inference is "updated". If
            `inference` is not given and the scope is "batch_mean", inference is "per_sample" in the variant "official",
            and otherwise "frozen".
        gates: the reset gate and the update gate. "learned": both gates are trained. "half": both gates are always ½,
            for comparison.
        pool: the kernel size of the average pooling that reduces the grid before the interpolation. If `pool` is 1,
            the grid is not reduced.
        scope: which samples use the same cache. "batch_mean": all samples use the same cache. "batch_row": each batch
            row of Layout.state has its own cache.
        gradient: how the gates are trained in causal layers. "detached": the gates are not trained. "recompute": the
            update from the previous piece of the text is computed again with an autograd graph. "carry": the autograd
            graph continues from piece to piece, until the state is detached. "recompute" and "carry" need Layout.state.
        grid: the height and the width of the grid of the layer's input tokens. If `length` is not given, `grid` is
            required.
        class_tokens: the number of class tokens. Class tokens come before the tokens of the grid.

    Raises:
        ValueError: If an option is out of its range.
    """

    def __init__(
        self,
        dim: int,
        length: int | None = None,
        *,
        ratio: float = 0.5,
        variant: Literal["paper", "official"] = "paper",
        attend: Literal["mean", "per_sample"] | None = None,
        inference: Literal["frozen", "per_sample", "updated"] | None = None,
        gates: Literal["learned", "half"] = "learned",
        pool: int = 1,
        scope: Scope = "batch_mean",
        gradient: Literal["detached", "recompute", "carry"] = "detached",
        grid: tuple[int, int] | None = None,
        class_tokens: int = 0,
    ) -> None:
        name = "gated_recurrent_cache"
        width = cache_width(ratio, dim)
        if pool < 1:
            raise ValueError(f"{name}: pool must be at least 1, got {pool}")
        tokens, memory_layout = _length_and_layout(length, grid, class_tokens, pool, name)
        super().__init__(name, tokens, width, scope, memory_layout)
        official = variant == "official"
        by_row = scope == "batch_row"
        self.variant = _one_of(name, "variant", variant, ("paper", "official"))
        self.attend = _one_of(
            name, "attend", attend or ("per_sample" if official or by_row else "mean"), ("mean", "per_sample")
        )
        if by_row and self.attend == "mean":
            raise ValueError(f'{name}: attend: "mean" would mix the batch rows of scope "batch_row"; use "per_sample"')
        own = "updated" if by_row else "per_sample" if official else "frozen"
        self.inference = _one_of(name, "inference", inference or own, ("frozen", "per_sample", "updated"))
        self.gates = _one_of(name, "gates", gates, ("learned", "half"))
        self.gradient = _one_of(name, "gradient", gradient, ("detached", "recompute", "carry"))
        self.pool = pool
        if gates == "learned":
            self.reset_gate = Linear(2 * width, width)
            self.update_gate = Linear(2 * width, width)
        self.candidate = Linear(2 * width, width)
        if official:
            self.norm = nn.LayerNorm(width, eps=1e-5)

    def step(self, input: Tensor, self_output: Tensor, layout: Layout) -> Tensor:
        """See Cache.step."""
        buffer = self._begin()
        previous = self._stored(buffer, layout, input.shape[0])
        updates = self.training or self._moves_in_evaluation()
        if not updates and (layout.causal or self.inference == "frozen"):
            return previous
        tokens = self._compress(input if self.variant == "paper" else self_output, layout)
        if layout.causal:
            return self._causal_step(previous, tokens, layout, buffer)
        updated = self._update(previous, tokens)
        if updates:
            self._store(updated, layout, buffer)
        together = self.training and self.scope == "batch_mean"
        return updated.mean if together and self.attend == "mean" else updated.samples

    def why_memory_varies(self) -> str | None:
        """See Cache.why_memory_varies."""
        if self.scope == "batch_row":
            return (
                f'{self.name}: with scope "batch_row", the cache also changes in evaluation, because memory attention '
                "reads the cache of each session"
            )
        if self.inference == "frozen":
            return None
        return (
            f'{self.name}: with inference "{self.inference}", the tokens that memory attention reads depend on the '
            "input"
        )

    def _moves_in_evaluation(self) -> bool:
        # A stream is a sample whose cache continues.
        return self.inference == "updated" or (self.inference == "per_sample" and self.scope == "batch_row")

    def _held_by_stream(self, layout: Layout) -> str | None:
        """Returns the option that puts the cache into the state of the session.

        Returns None if the cache is not in this state.
        """
        if self.scope == "batch_row":
            return 'scope "batch_row"'
        if not self.training:
            return 'inference "updated"' if self._moves_in_evaluation() else None
        return 'gradient "carry"' if layout.causal and self.gradient == "carry" else None

    def _stored(self, buffer: Tensor, layout: Layout, batch: int) -> Tensor:
        # Copies: the buffer is written later, and the backward pass needs what was read.
        why = self._held_by_stream(layout)
        if why is not None:
            held = self._stream(layout, why).get("cache")
            if held is not None:
                return held
            if self.scope == "batch_row":
                return buffer.detach().expand(batch, -1, -1).clone()
        return buffer.detach().clone()

    def _store(self, updated: ops.GrcUpdated, layout: Layout, buffer: Tensor) -> None:
        by_row = self.scope == "batch_row"
        if not by_row and updated.samples.shape[0] == 0 and not self.group:  # no sample has a mean
            return
        carried = layout.causal and self.gradient == "carry" and self.training
        successor = updated.samples if by_row else updated.mean
        why = self._held_by_stream(layout)
        if why is not None:
            self._stream(layout, why).set("cache", successor if carried else successor.detach())
        if not by_row and self.training:
            with torch.no_grad():
                buffer.copy_(updated.mean)

    def _causal_step(self, previous: Tensor, tokens: Tensor, layout: Layout, buffer: Tensor) -> Tensor:
        attended = previous
        if self.gradient == "recompute" and self.training:
            state = self._stream(layout, 'gradient "recompute"')
            last, last_cache = state.get("last_tokens"), state.get("last_cache")
            if last is not None and last_cache is not None:
                again = self._update(last_cache, last)
                attended = again.mean if self.scope == "batch_mean" else again.samples
            state.set("last_tokens", tokens.detach())
            state.set("last_cache", previous.detach())
        with torch.set_grad_enabled(self.gradient == "carry" and torch.is_grad_enabled()):
            self._store(self._update(previous, tokens), layout, buffer)
        return attended

    def _compress(self, source: Tensor, layout: Layout) -> Tensor:
        x = source[..., : self.tokens.shape[2]]
        if self.pool > 1:
            if layout.grid is None or layout.padding is not None:
                raise ValueError("gated_recurrent_cache: pooling needs tokens on a grid, without padding")
            grid = x[:, layout.class_tokens :].transpose(1, 2)
            grid = grid.reshape(*grid.shape[:2], *layout.grid)
            pooled = nn.functional.avg_pool2d(grid, self.pool, self.pool, ceil_mode=True)
            x = torch.cat([x[:, : layout.class_tokens], pooled.flatten(2).transpose(1, 2)], 1)
        return ops.resize_tokens(x, self.tokens.shape[1], padding=layout.padding)

    def _update(self, cache: Tensor, tokens: Tensor) -> ops.GrcUpdated:
        candidate = ops.GateWeights(self.candidate.weight, self.candidate.bias)
        if self.gates == "learned":
            reset, update = (ops.GateWeights(gate.weight, gate.bias) for gate in (self.reset_gate, self.update_gate))
        else:  # gates whose sigmoid is of nothing
            reset = update = ops.GateWeights(*(torch.zeros_like(part) for part in candidate if part is not None))
        norm = ops.CandidateNorm(self.norm.weight, self.norm.bias) if self.variant == "official" else None
        updated = ops.grc_update(cache, tokens, reset=reset, update=update, candidate=candidate, norm=norm)
        if self.training and self.scope == "batch_mean":
            updated = updated._replace(mean=mean_over_processes(updated.mean, tokens.shape[0], self.group))
        return updated


class FifoCache(Cache):
    """A first-in-first-out cache of the last Tm tokens, without gates.

    The authors of Cachet added the first-in-first-out cache as a control, to compare it with the gated recurrent cache.
    Memory attention reads the tokens that earlier batches stored in the cache. In training, after memory attention, the
    first Dm channels of the batch's valid tokens replace the oldest tokens of the cache. The new cache is the mean over
    the samples of the batch, without a gradient. If the scope is "batch_row", each batch row has its own cache, which
    also changes in evaluation.

    Args:
        dim: D, the number of channels of the layer.
        length: Tm, the number of tokens of the cache. If `length` is not given, Tm is the number of cells of the grid
            plus the number of class tokens.
        ratio: Dm / D, where Dm is the number of channels of the cache.
        scope: which samples use the same cache. "batch_mean": all samples use the same cache. "batch_row": each batch
            row of Layout.state has its own cache.
        grid: the height and the width of the grid of the layer's input tokens. If `length` is not given, `grid` is
            required.
        class_tokens: the number of class tokens. Class tokens come before the tokens of the grid.

    Raises:
        ValueError: If an option is out of its range.
    """

    def __init__(
        self,
        dim: int,
        length: int | None = None,
        *,
        ratio: float = 0.5,
        scope: Scope = "batch_mean",
        grid: tuple[int, int] | None = None,
        class_tokens: int = 0,
    ) -> None:
        name = "fifo_cache"
        tokens, memory_layout = _length_and_layout(length, grid, class_tokens, 1, name)
        super().__init__(name, tokens, cache_width(ratio, dim), scope, memory_layout)

    def step(self, input: Tensor, self_output: Tensor, layout: Layout) -> Tensor:
        """See Cache.step."""
        buffer = self._begin()
        previous = buffer.detach().clone()
        by_row = self.scope == "batch_row"
        if by_row:
            held = self._stream(layout, 'scope "batch_row"').get("cache")
            previous = previous.expand(input.shape[0], -1, -1) if held is None else held
        if by_row or (self.training and (input.shape[0] > 0 or self.group)):  # no sample has a mean
            with torch.no_grad():
                tokens = input[..., : previous.shape[2]].to(previous.dtype)
                pushed = self._push(previous, tokens, layout.padding)
                if by_row:
                    self._stream(layout, 'scope "batch_row"').set("cache", pushed)
                else:
                    buffer.copy_(mean_over_processes(pushed.mean(0, keepdim=True), input.shape[0], self.group))
        return previous

    def why_memory_varies(self) -> str | None:
        """See Cache.why_memory_varies."""
        if self.scope == "batch_mean":
            return None
        return (
            f'{self.name}: with scope "batch_row", the cache also changes in evaluation, because memory attention '
            "reads the tokens of each session"
        )

    @staticmethod
    def _push(cache: Tensor, tokens: Tensor, padding: Tensor | None) -> Tensor:
        """Returns the last Tm tokens of [cache, valid tokens] of each sample."""
        batch, length, width = tokens.shape[0], cache.shape[1], cache.shape[2]
        before = cache.expand(batch, length, width)
        if padding is None:
            return torch.cat([before, tokens], 1)[:, tokens.shape[1] :]
        valid_first = torch.sort(padding.byte(), dim=1, stable=True).indices
        ordered = tokens.gather(1, valid_first.unsqueeze(2).expand(-1, -1, width))
        kept = (~padding).sum(1, keepdim=True) + torch.arange(length, device=tokens.device)
        return torch.cat([before, ordered], 1).gather(1, kept.unsqueeze(2).expand(-1, -1, width))


class ConcatenatedCache(StateModule):
    """A cache that adds keys and values to the softmax of a MultiHeadAttention. Pass the cache to the layer as `cache`.

    An entry of the cache is a mean over the samples of the last training step, without a gradient. The cache averages
    the tokens of the context, before the layer projects these tokens to keys and values. If the samples have another
    number of tokens than `length`, their tokens are first interpolated to `length` tokens. If no training step is
    stored, the layer computes the same outputs as without a cache. Cachet has this cache for the comparison in Table 2
    of Cached Transformers, arXiv 2312.12742.

    Args:
        dim: the number of channels of the context.
        length: the number of keys that the layer has without the cache.

    The only buffer of the cache is `tokens`, (1, length, dim). The initial values of `tokens` are zeros.

    Raises:
        ValueError: If dim or length is less than 1.
    """

    tokens: Tensor

    def __init__(self, dim: int, length: int) -> None:
        super().__init__()
        if dim < 1 or length < 1:
            raise ValueError(
                f"concatenated_cache: needs at least one entry and one channel, got {length} entries of {dim} channels"
            )
        self._holds: bool | None = False  # None: only the tokens know
        self.register_buffer("tokens", torch.zeros(1, length, dim))

    def step(self, context: Tensor, padding: Tensor | None = None) -> Tensor | None:
        """Returns the tokens of the last stored training step, (1, length, dim), or None if no step is stored.

        In training, this call also stores the tokens of the present step.

        Args:
            context: (B, L, dim), the tokens from which keys and values are projected.
            padding: (B, L), bool. True marks padding.
        """
        buffer = self._state_of_step("concatenated_cache")["tokens"] if self.training else self.tokens
        repeated = buffer is not self.tokens
        holds = bool(buffer.any()) if repeated else self.holds_step()
        previous = buffer.detach().clone() if holds else None
        if self.training and (context.shape[0] > 0 or self.group):  # no sample has a mean
            with torch.no_grad():
                x = ops.resize_tokens(context.to(buffer.dtype), buffer.shape[1], padding=padding)
                buffer.copy_(mean_over_processes(x.mean(0, keepdim=True), context.shape[0], self.group))
            if not repeated:
                self._holds = True
        return previous

    def holds_step(self) -> bool:
        """Returns whether the cache stores the tokens of a training step."""
        if self._holds is None:
            self._holds = bool(self.tokens.any())
        return self._holds

    def reset(self) -> None:
        """Sets the cache to zero, which is its value before the first step."""
        self.tokens.zero_()
        self._holds = False

    def _load_from_state_dict(self, *arguments: Any) -> None:
        super()._load_from_state_dict(*arguments)
        self._holds = None


def _one_of(name: str, option: str, word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        listed = ", ".join(f'"{each}"' for each in words)
        raise ValueError(f'{name}: {option}: "{word}" is not one of {listed}')
    return word
