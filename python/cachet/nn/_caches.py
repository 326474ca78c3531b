"""Memories of earlier batches that attention layers read."""
from __future__ import annotations

import abc
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from cachet import ops
from cachet.nn._layers import Linear
from cachet.nn._state import StateModule


class Layout(NamedTuple):
    """How the tokens of a call lie.

    Attributes:
        grid: height and width of the tokens after the class tokens, row by row; None: no grid.
        class_tokens: leading tokens that are off the grid.
        padding: (B, L) bool, True = padding.
        causal: query i sees the keys up to its own.
    """

    grid: tuple[int, int] | None = None
    class_tokens: int = 0
    padding: Tensor | None = None
    causal: bool = False


def cache_width(ratio: float, dim: int) -> int:
    """Channels of the memory of a layer of dim channels: ratio·dim, rounded down. ValueError if this is not a ratio."""
    if not 0 < ratio <= 1:
        raise ValueError(f"cache: ratio must be above 0 and at most 1, got {ratio}")
    if int(dim * ratio) < 1:
        raise ValueError(f"cache: ratio {ratio} of {dim} channels leaves none")
    return int(dim * ratio)


class Cache(StateModule, abc.ABC):
    """A memory of fixed length, shared by all samples. Buffer: tokens (1, Tm, Dm), at first zeros."""

    tokens: Tensor

    def __init__(self, length: int, width: int) -> None:
        super().__init__()
        if length < 1:
            raise ValueError(f"cache: length must be at least 1, got {length}")
        self.register_buffer("tokens", torch.zeros(1, length, width))

    @abc.abstractmethod
    def step(self, input: Tensor, self_output: Tensor, layout: Layout) -> Tensor:
        """What memory attention reads, (B or 1, Tm, Dm); in training the next memory is stored, detached.

        Args:
            input: the layer's tokens, (B, L, D).
            self_output: what self-attention made of them, (B, L, D).
            layout: how they lie.
        """

    def reset(self) -> None:
        """Sets the memory to zero, as before the first step."""
        self.tokens.zero_()

    def _store(self, mean: Tensor, samples: int) -> None:
        if samples == 0:  # no sample has a mean
            return
        with torch.no_grad():
            self.tokens.copy_(mean)


class GatedRecurrentCache(Cache):
    """The gated recurrent cache: Cached Transformers, arXiv 2312.12742, Eq. 3–5 and Algorithm 1 (ops.grc_update).

    In training memory attention reads the updated cache; the stored cache becomes its mean over the batch, detached.
    Causal layers read the stored cache and update it afterwards, so that the future does not leak; the gates then get
    no gradient (`gradient = "detached"` in C++).

    Args:
        dim: channels D of the layer.
        length: Tm. Unless the samples have as many tokens, they are interpolated.
        ratio: Dm / D.
        variant: "paper", or "official" as the published code: the cache is updated from the output of self-attention,
            and the candidate has LayerNorm and GELU.
        attend: what training reads, the "mean" of the samples' caches or its own ("per_sample"); None: as the variant.
        inference: what evaluation reads, the stored cache ("frozen") or each sample's own update of it ("per_sample");
            None: as the variant.
        gates: "learned", or "half": both gates are ½, a control.
        pool: side of the average pooling of the grid before interpolation.

    Raises:
        ValueError: an option is out of its range.
    """

    def __init__(
        self,
        dim: int,
        length: int,
        *,
        ratio: float = 0.5,
        variant: Literal["paper", "official"] = "paper",
        attend: Literal["mean", "per_sample"] | None = None,
        inference: Literal["frozen", "per_sample"] | None = None,
        gates: Literal["learned", "half"] = "learned",
        pool: int = 1,
    ) -> None:
        width = cache_width(ratio, dim)
        super().__init__(length, width)
        official = variant == "official"
        self.variant = _one_of("variant", variant, ("paper", "official"))
        self.attend = _one_of("attend", attend or ("per_sample" if official else "mean"), ("mean", "per_sample"))
        self.inference = _one_of(
            "inference", inference or ("per_sample" if official else "frozen"), ("frozen", "per_sample")
        )
        self.gates = _one_of("gates", gates, ("learned", "half"))
        if pool < 1:
            raise ValueError(f"gated_recurrent_cache: pool must be at least 1, got {pool}")
        self.pool = pool
        if gates == "learned":
            self.reset_gate = Linear(2 * width, width)
            self.update_gate = Linear(2 * width, width)
        self.candidate = Linear(2 * width, width)
        if official:
            self.norm = nn.LayerNorm(width, eps=1e-5)

    def step(self, input: Tensor, self_output: Tensor, layout: Layout) -> Tensor:
        """See Cache.step."""
        # A copy: the buffer is written below, and the backward pass needs what was read.
        previous = self.tokens.detach().clone()
        if not self.training and (layout.causal or self.inference == "frozen"):
            return previous
        if self.training:
            self._check_writable("gated_recurrent_cache")
        tokens = self._compress(input if self.variant == "paper" else self_output, layout)
        if layout.causal:
            with torch.no_grad():
                self._store(self._update(previous, tokens).mean, len(tokens))
            return previous
        updated = self._update(previous, tokens)
        if not self.training:
            return updated.samples
        self._store(updated.mean, len(tokens))
        return updated.mean if self.attend == "mean" else updated.samples

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
        return ops.grc_update(cache, tokens, reset=reset, update=update, candidate=candidate, norm=norm)


class FifoCache(Cache):
    """First in, first out: the last Tm tokens, without gates. A control of this project's own.

    Memory attention reads the cache as it was before this batch. In training the first Dm channels of the batch's valid
    tokens then push the oldest out, averaged over the batch, detached.

    Args:
        dim: channels D of the layer.
        length: Tm.
        ratio: Dm / D.

    Raises:
        ValueError: an option is out of its range.
    """

    def __init__(self, dim: int, length: int, *, ratio: float = 0.5) -> None:
        super().__init__(length, cache_width(ratio, dim))

    def step(self, input: Tensor, self_output: Tensor, layout: Layout) -> Tensor:
        """See Cache.step."""
        previous = self.tokens.detach().clone()
        if self.training:
            self._check_writable("fifo_cache")
            with torch.no_grad():
                tokens = input[..., : previous.shape[2]].to(previous.dtype)
                self._store(self._push(previous, tokens, layout.padding).mean(0, keepdim=True), len(input))
        return previous

    @staticmethod
    def _push(cache: Tensor, tokens: Tensor, padding: Tensor | None) -> Tensor:
        """The last Tm of [cache, valid tokens] of each sample."""
        batch, length, width = len(tokens), cache.shape[1], cache.shape[2]
        before = cache.expand(batch, length, width)
        if padding is None:
            return torch.cat([before, tokens], 1)[:, tokens.shape[1] :]
        valid_first = torch.sort(padding.byte(), dim=1, stable=True).indices
        ordered = tokens.gather(1, valid_first.unsqueeze(2).expand(-1, -1, width))
        kept = (~padding).sum(1, keepdim=True) + torch.arange(length, device=tokens.device)
        return torch.cat([before, ordered], 1).gather(1, kept.unsqueeze(2).expand(-1, -1, width))


def _one_of(option: str, word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        listed = ", ".join(f'"{each}"' for each in words)
        raise ValueError(f'gated_recurrent_cache: {option}: "{word}" is not one of {listed}')
    return word
