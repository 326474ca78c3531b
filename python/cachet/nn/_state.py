"""Modules whose buffers are running state."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class StateModule(nn.Module):
    """A module whose own buffers are running state: a conversion to a narrower type leaves them float32."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        before = dict(self._buffers)
        module = super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        for name, kept in before.items():
            now = self._buffers[name]
            if kept is None or now is None or not now.is_floating_point() or now.dtype.itemsize >= 4:
                continue
            self._buffers[name] = kept.to(now.device, torch.promote_types(kept.dtype, torch.float32))
        return module

    def _check_writable(self, name: str) -> None:
        """Raises RuntimeError in a pass that gradient checkpointing repeats: it would be a second step of the state."""
        if not torch.compiler.is_compiling() and torch._C._current_graph_task_id() != -1:
            raise RuntimeError(
                f"{name}: gradient checkpointing repeats a forward pass in the backward pass, which would be a second "
                "step of the layer's state; leave this layer out of the checkpointed part"
            )
