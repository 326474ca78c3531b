"""Norms without statistics at inference: unified normalization, power normalization, and their affine map."""
from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from cachet.ops._choices import number_of

_ops = torch.ops.cachet
_MEANS = {"geometric": 0, "arithmetic": 1, "none": 2}
_THRESHOLDS = {"pooled": 0, "channel": 1}


class UnifiedNormSettings(NamedTuple):
    """How unified normalization counts, averages and filters (arXiv 2208.01313).

    Attributes:
        forward_window: M, steps in the mean of the statistic.
        backward_window: steps in the arithmetic mean of the gradient's statistic.
        forward_momentum: of the running statistic.
        backward_momentum: of the gradient's statistic; 0 takes the window's mean as it is.
        eps: added to the statistic.
        warmup: steps on the batch's own statistic.
        filter_outliers: drops all averages for a step whose window is too uneven (Eq. 18–19).
        threshold: of the filter: "pooled" over the channels, as in the published code, where one channel filters the
            whole layer; "channel": each channel its own.
        forward_mean: of the window: "geometric", as in the paper, "arithmetic", or "none": each step its own statistic.
        official: counts as the published code does, and has its factor r in the backward pass.
        rescale: r in the forward pass too, as moving average batch normalization has it.
    """

    forward_window: int = 4
    backward_window: int = 4
    forward_momentum: float = 0.9
    backward_momentum: float = 0.9
    eps: float = 1e-5
    warmup: int = 4000
    filter_outliers: bool = True
    threshold: Literal["pooled", "channel"] = "pooled"
    forward_mean: Literal["geometric", "arithmetic", "none"] = "geometric"
    official: bool = False
    rescale: bool = False


class UnifiedNormState(NamedTuple):
    """The state of one layer.

    Attributes:
        statistics: (2 + M + M_b, C), float32 or float64, rows: running σ², ψ, the last M statistics of the forward and
            the last M_b of the backward pass.
        counters: (4) int64: steps, filtered steps, steps on window statistics, whether the last step was filtered. With
            a threshold for each channel the last three count channels.
    """

    statistics: Tensor
    counters: Tensor


class UnifiedNormOutput(NamedTuple):
    """What unified_norm returns.

    Attributes:
        output: y, in the shape and dtype of the input.
        statistic: σ̂² (C), what the step was normalised with.
        on_own: bool, () or of each channel (C): whether the step's own values replaced all averages.
    """

    output: Tensor
    statistic: Tensor
    on_own: Tensor


def initial_unified_norm_state(
    channels: int,
    settings: UnifiedNormSettings | None = None,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> UnifiedNormState:
    """The state before the first step: running σ² = 1, everything else 0."""
    s = settings or UnifiedNormSettings()
    statistics = torch.zeros(2 + s.forward_window + s.backward_window, channels, dtype=dtype, device=device)
    statistics[0] = 1
    return UnifiedNormState(statistics, torch.zeros(4, dtype=torch.int64, device=device))


def unified_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    state: UnifiedNormState,
    settings: UnifiedNormSettings | None = None,
    *,
    padding: Tensor | None = None,
    group: str = "",
) -> UnifiedNormOutput:
    """Unified normalization, its training form: arXiv 2208.01313, Algorithm 2 and Eq. 16–19.

    z = x / √(σ̂² + ε), y = w·z + b, where σ̂² is a mean over the last M steps of the mean of x². At inference it is
    scale_shift with w / √(σ²_running + ε) and b.

    Args:
        input: (…, C), floating.
        weight: (C), or None.
        bias: (C), or None.
        state: both passes write their part of it. Several forward passes may precede a backward pass.
        settings: None: those of the paper.
        padding: (…) bool, True = padding, which is not in the statistics.
        group: name of the process group of torch.distributed over whose batches statistics are; "": none.

    Returns:
        The output, what it was normalised with, and whether that was the step's own. Arithmetic is in the dtype of the
        statistics. Differentiable once.

    Raises:
        RuntimeError: shapes or dtypes do not agree.
        ValueError: a threshold or a mean that does not exist.
    """
    s = settings or UnifiedNormSettings()
    mean = number_of("unified_norm: forward_mean", s.forward_mean, _MEANS)
    per_channel = number_of("unified_norm: threshold", s.threshold, _THRESHOLDS) == 1
    output, scales, step = _ops.unified_norm(
        input,
        weight,
        bias,
        padding,
        *state,
        [s.forward_window, s.backward_window],
        [s.forward_momentum, s.backward_momentum],
        s.eps,
        s.warmup,
        s.filter_outliers,
        mean,
        s.rescale,
        s.official,
        per_channel,
        group,
    )
    return UnifiedNormOutput(output, scales[0], (scales[2] if per_channel else step[2]).to(torch.bool))


class PowerNormSettings(NamedTuple):
    """How power normalization averages (arXiv 2003.07845).

    Attributes:
        forward_momentum: of the running statistic ψ².
        backward_momentum: of the gradient's statistic Γ.
        eps: added to the statistic.
        warmup: steps on the batch's own statistic.
    """

    forward_momentum: float = 0.9
    backward_momentum: float = 0.9
    eps: float = 1e-5
    warmup: int = 10_000


class PowerNormState(NamedTuple):
    """The state of one layer.

    Attributes:
        statistics: (2, C), float32 or float64, rows: ψ² and Γ.
        counters: (1) int64: steps.
    """

    statistics: Tensor
    counters: Tensor


class PowerNormOutput(NamedTuple):
    """What power_norm returns.

    Attributes:
        output: y, in the shape and dtype of the input.
        used_statistic: (C), what the step was normalised with.
        statistic: (C), the mean of x² of the step.
    """

    output: Tensor
    used_statistic: Tensor
    statistic: Tensor


def initial_power_norm_state(
    channels: int, *, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None
) -> PowerNormState:
    """The state before the first step: ψ² = 1, everything else 0."""
    statistics = torch.stack([torch.ones(channels, dtype=dtype, device=device),
                              torch.zeros(channels, dtype=dtype, device=device)])
    return PowerNormState(statistics, torch.zeros(1, dtype=torch.int64, device=device))


def power_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    state: PowerNormState,
    settings: PowerNormSettings | None = None,
    *,
    padding: Tensor | None = None,
    group: str = "",
) -> PowerNormOutput:
    """Power normalization, its training form: Shen et al., arXiv 2003.07845.

    z = x / √(s + ε), y = w·z + b, where s is ψ², or in the warm-up the batch's own mean of x². At inference it is
    scale_shift with w / √(ψ² + ε) and b.

    Args:
        input: (…, C), floating, with a leading dimension.
        weight: (C), or None.
        bias: (C), or None.
        state: the forward pass writes ψ² and the counter, the backward pass Γ.
        settings: None: those of the paper.
        padding: (…) bool, True = padding, which is not in the statistics.
        group: name of the process group of torch.distributed over whose batches statistics are; "": none.

    Returns:
        The output, what it was normalised with, and the statistic of the step. Differentiable once.

    Raises:
        RuntimeError: shapes or dtypes do not agree.
    """
    s = settings or PowerNormSettings()
    output, scales = _ops.power_norm(input, weight, bias, padding, *state, *s, group)
    return PowerNormOutput(output, scales[0], scales[1])


def scale_shift(input: Tensor, scale: Tensor, shift: Tensor | None = None) -> Tensor:
    """x·scale + shift, channel by channel: a norm without statistics at inference, arXiv 2208.01313, Algorithm 1.

    Args:
        input: (…, C), floating.
        scale: (C), float32 or float64, in which it is computed.
        shift: (C) of the dtype of scale, or None.

    Returns:
        (…, C) in the dtype of input. Differentiable in everything.

    Raises:
        RuntimeError: shapes or dtypes do not agree.
    """
    scaled: Tensor = _ops.scale_shift(input, scale, shift)
    return scaled
