"""Modules whose buffers are running state."""
from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class _Record:
    """The states that the steps of a checkpointed part of a model read, in order.

    The record also has the number of these states that each repeated pass has read.
    """

    def __init__(self) -> None:
        self.states: list[tuple[nn.Module, dict[str, Tensor]]] = []
        self.read: dict[int, int] = {}

    def next(self, task: int) -> tuple[nn.Module, dict[str, Tensor]] | None:
        """Returns the state of the next step in the backward pass with the number task."""
        place = self.read.get(task, 0)
        self.read[task] = place + 1
        return self.states[place] if place < len(self.states) else None


_records: weakref.WeakKeyDictionary[Any, _Record] = weakref.WeakKeyDictionary()


def _checkpoint() -> tuple[Any, bool] | None:
    """Returns the part of the model under torch.utils.checkpoint (use_reentrant=False) that is running.

    The second value is true in the second pass of this part. Returns None outside such parts.
    """
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    if not hooks:
        return None
    pack: Any = inspect.unwrap(hooks[0])
    if not inspect.isfunction(pack):
        return None
    kept = dict(zip(pack.__code__.co_freevars, pack.__closure__ or (), strict=True))
    if pack.__qualname__.startswith("_checkpoint_hook."):
        return kept["frame"].cell_contents, False
    if pack.__qualname__.startswith("_recomputation_hook."):
        return kept["target_frame_ref"].cell_contents(), True
    return None


class StateModule(nn.Module):
    """The base class of modules with running state, such as norms and caches.

    The running state of a module consists of its own buffers, without those of submodules. If the module is converted
    to a narrower dtype, these buffers stay float32 or wider.

    Attributes:
        group: the name of a process group. Each batch is divided among the processes of the group. If `group` is "",
            the module uses only the batch of its own process. share_state() sets `group`.
        processes: the number of processes in the process group.
    """

    group: str = ""
    processes: int = 1

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        before = dict(self._buffers)
        module = super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        for name, kept in before.items():
            now = self._buffers[name]
            if kept is None or now is None or not now.is_floating_point() or now.dtype.itemsize >= 4:
                continue
            self._buffers[name] = kept.to(now.device, torch.promote_types(kept.dtype, torch.float32))
        return module

    def _state_of_step(self, name: str) -> dict[str, Tensor]:
        """Returns the buffers that a training step reads and writes.

        If gradient checkpointing repeats a pass, the repeated pass gets copies of the values that the first pass read.
        Therefore the repeated pass computes the same values as the first pass, and does not change the state.
        """
        own = {key: buffer for key, buffer in self._buffers.items() if buffer is not None}
        if torch.compiler.is_compiling():
            return own
        task = torch._C._current_graph_task_id()
        part = _checkpoint()
        if task == -1:
            if part is not None and not part[1]:
                states = _records.setdefault(part[0], _Record()).states
                states.append((self, {key: buffer.detach().clone() for key, buffer in own.items()}))
            return own
        first = _records[part[0]].next(task) if part is not None and part[1] and part[0] in _records else None
        if first is None or first[0] is not self:
            raise RuntimeError(
                f"{name}: gradient checkpointing repeats this forward pass in a way that the layer does not support, "
                "and would change the layer's state a second time; use torch.utils.checkpoint with use_reentrant=False"
            )
        return {key: buffer.clone() for key, buffer in first[1].items()}
