"""The state of a layer between the pieces of texts."""
from __future__ import annotations

import torch
from torch import Tensor


class StreamState:
    """The state of a layer that reads texts in pieces. Each batch row has one text.

    `layer.make_state(batch)` makes the state. Your code stores the state, and passes the state to the layer with each
    piece, as `Layout(state=…)`.

    Args:
        batch: the number of batch rows.
        decoding: if true, queries also attend to the keys and values of earlier pieces, as in decoding token by token.

    Raises:
        ValueError: If batch is less than 1.
    """

    def __init__(self, batch: int, *, decoding: bool = False) -> None:
        if batch < 1:
            raise ValueError(f"stream_state: a session must have at least one batch row, got {batch}")
        self.batch, self.decoding = batch, decoding
        self._tensors: dict[str, Tensor] = {}
        self._parts: dict[str, StreamState] = {}

    def part(self, name: str) -> StreamState:
        """Returns the state of one part of the layer. `name` is the name of the part."""
        if name not in self._parts:
            self._parts[name] = StreamState(self.batch, decoding=self.decoding)
        return self._parts[name]

    def get(self, name: str) -> Tensor | None:
        """Returns the tensor of the state that has this name, or None if there is no such tensor yet."""
        return self._tensors.get(name)

    def set(self, name: str, tensor: Tensor) -> None:
        """Stores a tensor in the state, under a name.

        The first dimension of the tensor must be the number of batch rows, or 1 if all batch rows use the same values.

        Raises:
            RuntimeError: If the size of the first dimension is neither 1 nor the number of batch rows.
        """
        if tensor.shape[0] not in (1, self.batch):
            raise RuntimeError(
                f'stream_state: "{name}" must have a first dimension of {self.batch} or 1, got {tensor.shape[0]}'
            )
        self._tensors[name] = tensor

    def append(self, name: str, more: Tensor, dim: int) -> Tensor:
        """Appends values to a tensor of the state along dimension dim, and returns the extended tensor."""
        before = self._tensors.get(name)
        self.set(name, more if before is None else torch.cat([before, more], dim))
        return self._tensors[name]

    def detach(self) -> None:
        """Detaches all tensors of the state from the graph.

        After detach(), no gradient flows from later pieces of the text to earlier pieces.
        """
        self._tensors = {name: tensor.detach() for name, tensor in self._tensors.items()}
        for part in self._parts.values():
            part.detach()

    def reorder(self, rows: Tensor) -> None:
        """Reorders the batch rows of each tensor, as beam search does: the new row i is the old row rows[i].

        If the first dimension of a tensor is 1, all batch rows use the same values, and reorder does not change the
        tensor.

        Args:
            rows: (batch), int64.
        """
        for name, tensor in self._tensors.items():
            if tensor.shape[0] == self.batch:
                self._tensors[name] = tensor.index_select(0, rows)
        for part in self._parts.values():
            part.reorder(rows)

    def named_tensors(self) -> dict[str, Tensor]:
        """Returns all tensors of the state and of its parts, by their paths, such as "cache/cache"."""
        inside = {f"{name}/{key}": tensor
                  for name, part in self._parts.items() for key, tensor in part.named_tensors().items()}
        return {**self._tensors, **inside}
