"""The state of layers whose batch is divided over several processes."""
from __future__ import annotations

import inspect
from typing import Any, Literal

import torch
from torch import Tensor, nn

from cachet.nn._state import StateModule

StateOwner = Literal["shared", "separate", "first"]


class _SumOver(torch.autograd.Function):
    """The sum over the processes of a group.

    All processes read the sum, so its gradients are also summed over the processes.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: str) -> Tensor:
        ctx.group = group
        return _summed(x, group)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return _summed(grads[0], ctx.group), None


class _ScaleGradient(torch.autograd.Function):
    """The identity, but its gradient is multiplied by a number."""

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
    """Returns x. The gradient of the result is multiplied by factor."""
    return _ScaleGradient.apply(x, factor)  # type: ignore[no-any-return,no-untyped-call]


def mean_over_processes(mean: Tensor, samples: int, group: str) -> Tensor:
    """Returns the mean over the samples of all processes, from the mean of each process. Gradients are supported."""
    if not group:
        return mean
    # The mean of no samples is not a number.
    part = mean * samples if samples > 0 else torch.zeros_like(mean)
    count = torch.full((1,), samples, dtype=mean.dtype, device=mean.device)
    return _SumOver.apply(part, group) / _summed(count, group)  # type: ignore[no-any-return,no-untyped-call]


def share_state(model: nn.Module, group: Any = None) -> int:
    """Synchronises the state of a model's layers over all processes of a group in training.

    After share_state(), the states and the outputs are those of one process that trains with the whole batch. All
    processes must run the same forward and backward passes. The loss of each process must be the mean over its part of
    the batch. The gradients must be averaged over the processes, as DistributedDataParallel does.

    Args:
        model: a model with layers such as UnifiedNorm and CachedAttention.
        group: a process group of torch.distributed. If `group` is not given, the group consists of all processes.

    Returns:
        The number of layers whose state is synchronised.

    Raises:
        RuntimeError: If torch.distributed is not initialized.
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
    """Wraps a model in DistributedDataParallel.

    The argument `state` chooses how the processes synchronise the state of norms and caches.

    Args:
        model: a model with layers such as UnifiedNorm and CachedAttention.
        state: "shared": all processes have the state of one process with the whole batch (share_state). "separate":
            each process has the state of its part of the batch. "first": each process begins a step with the state of
            the first process.
        group: a process group of torch.distributed. If `group` is not given, the group consists of all processes.
        options: options of DistributedDataParallel, such as device_ids.

    Raises:
        ValueError: If state is not valid, or if options contain broadcast_buffers.
        RuntimeError: If torch.distributed is not initialized.
    """
    if state not in ("shared", "separate", "first"):
        raise ValueError(f'distribute: state: "{state}" is not one of "shared", "separate", "first"')
    for name in ("broadcast_buffers", "forward_sync_buffers"):
        if name in options:
            raise ValueError(f"distribute: the argument state determines {name}; leave out {name}")
    if state == "shared":
        share_state(model, group)
    parallel: Any = nn.parallel.DistributedDataParallel
    # PyTorch 2.13 has another name for it.
    named = inspect.signature(parallel).parameters
    sync = "forward_sync_buffers" if "forward_sync_buffers" in named else "broadcast_buffers"
    options |= {"process_group": group, sync: state == "first"}
    made: nn.parallel.DistributedDataParallel = parallel(model, **options)
    return made
