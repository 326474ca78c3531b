"""What a layer remembers of streams, such as texts that are read in pieces."""
from __future__ import annotations

import torch
from torch import Tensor


class StreamState:
    """What one layer remembers of the streams in the rows of a batch. Its caller holds it.

    `layer.make_state(batch)` makes one, and `Layout(state=…)` gives it to the layer with each piece.

    Args:
        batch: streams, one in each row of the batch.
        decoding: whether the keys and values of earlier pieces stay visible, as in decoding token by token.

    Raises:
        ValueError: there is no stream.
    """

    def __init__(self, batch: int, *, decoding: bool = False) -> None:
        if batch < 1:
            raise ValueError(f"stream_state: needs at least one stream, got {batch}")
        self.batch, self.decoding = batch, decoding
        self._tensors: dict[str, Tensor] = {}
        self._parts: dict[str, StreamState] = {}

    def part(self, name: str) -> StreamState:
        """The state of a layer inside this one."""
        if name not in self._parts:
            self._parts[name] = StreamState(self.batch, decoding=self.decoding)
        return self._parts[name]

    def get(self, name: str) -> Tensor | None:
        """A tensor of the state; None if it is not there yet."""
        return self._tensors.get(name)

    def set(self, name: str, tensor: Tensor) -> None:
        """Stores a tensor, whose first dimension is the batch, or 1 if all streams share it.

        Raises:
            RuntimeError: the tensor has another batch.
        """
        if tensor.shape[0] not in (1, self.batch):
            raise RuntimeError(f'stream_state: "{name}" is of {tensor.shape[0]} streams, and the state of {self.batch}')
        self._tensors[name] = tensor

    def append(self, name: str, more: Tensor, dim: int) -> Tensor:
        """Adds to the end of a tensor, and returns all of it."""
        before = self._tensors.get(name)
        self.set(name, more if before is None else torch.cat([before, more], dim))
        return self._tensors[name]

    def detach(self) -> None:
        """Cuts the graph of all tensors: earlier pieces get no gradient from later ones."""
        self._tensors = {name: tensor.detach() for name, tensor in self._tensors.items()}
        for part in self._parts.values():
            part.detach()

    def reorder(self, rows: Tensor) -> None:
        """Makes row i the former row rows[i], as beam search does. What all streams share stays.

        Args:
            rows: (batch) int64.
        """
        for name, tensor in self._tensors.items():
            if tensor.shape[0] == self.batch:
                self._tensors[name] = tensor.index_select(0, rows)
        for part in self._parts.values():
            part.reorder(rows)

    def named_tensors(self) -> dict[str, Tensor]:
        """All tensors by their paths, such as "cache/cache"."""
        inside = {f"{name}/{key}": tensor
                  for name, part in self._parts.items() for key, tensor in part.named_tensors().items()}
        return {**self._tensors, **inside}
