"""State of layers whose batch is split among processes."""
from __future__ import annotations

import inspect
from typing import Any, Literal

import torch
from torch import Tensor, nn

from cachet.nn._state import StateModule

StateOwner = Literal["shared", "separate", "first"]


class _SumOver(torch.autograd.Function):
    """The sum over the processes of a group; what reads it does so on all, so gradients are summed, too."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: str) -> Tensor:
        ctx.group = group
        return _summed(x, group)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return _summed(grads[0], ctx.group), None


class _ScaleGradient(torch.autograd.Function):
    """The identity, whose gradient is multiplied by a number."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0] * ctx.factor, None


def _summed(x: Tensor, group: str) -> Tensor:
    operators = torch.ops._c10d_functional
    summed: Tensor = operators.wait_tensor(operators.all_reduce(x.contiguous(), "sum", group))
    return summed


def scale_gradient(x: Tensor, factor: float) -> Tensor:
    """X, whose gradient is multiplied by a number."""
    return _ScaleGradient.apply(x, factor)  # type: ignore[no-any-return,no-untyped-call]


def mean_over_processes(mean: Tensor, samples: int, group: str) -> Tensor:
    """The mean over the samples of all processes, from that of this process; differentiable."""
    if not group:
        return mean
    # The mean of no samples is not a number.
    part = mean * samples if samples > 0 else torch.zeros_like(mean)
    count = torch.full((1,), samples, dtype=mean.dtype, device=mean.device)
    return _SumOver.apply(part, group) / _summed(count, group)  # type: ignore[no-any-return,no-untyped-call]


def share_state(model: nn.Module, group: Any = None) -> int:
    """Makes layers with state compute it over the batches of all processes of a group, in training.

    State and outputs are then those of one process with the whole batch. All processes have to run the same forward and
    backward passes. The loss of a process is the mean over its part of the batch, and gradients are averaged over the
    processes, as DistributedDataParallel does.

    Args:
        model: with layers such as UnifiedNorm and CachedAttention.
        group: of torch.distributed; None: all processes.

    Returns:
        How many layers there are.

    Raises:
        RuntimeError: torch.distributed is not initialized.
    """
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        raise RuntimeError("share_state: torch.distributed is not initialized; call init_process_group first")
    world = torch.distributed.group.WORLD if group is None else group
    assert world is not None
    layers = [module for module in model.modules() if isinstance(module, StateModule)]
    for layer in layers:
        layer.group, layer.processes = world.group_name, world.size()
    return len(layers)


def distribute(
    model: nn.Module, state: StateOwner = "shared", *, group: Any = None, **options: Any
) -> nn.parallel.DistributedDataParallel:
    """DistributedDataParallel, with a word for whose state that of norms and caches is.

    Args:
        model: with layers such as UnifiedNorm and CachedAttention.
        state: "shared": one state, as of one process with the whole batch (share_state); "separate": each process has
            the state of its part; "first": each process begins a step with the state of the first one.
        group: of torch.distributed; None: all processes.
        options: those of DistributedDataParallel, such as device_ids.

    Raises:
        ValueError: a word that does not exist, or broadcast_buffers among the options.
        RuntimeError: torch.distributed is not initialized.
    """
    if state not in ("shared", "separate", "first"):
        raise ValueError(f'distribute: state: "{state}" is not one of "shared", "separate", "first"')
    for name in ("broadcast_buffers", "forward_sync_buffers"):
        if name in options:
            raise ValueError(f"distribute: {name} follows from state: leave it out")
    if state == "shared":
        share_state(model, group)
    parallel: Any = nn.parallel.DistributedDataParallel
    # PyTorch 2.13 has another name for it.
    named = inspect.signature(parallel).parameters
    sync = "forward_sync_buffers" if "forward_sync_buffers" in named else "broadcast_buffers"
    options |= {"process_group": group, sync: state == "first"}
    made: nn.parallel.DistributedDataParallel = parallel(model, **options)
    return made
