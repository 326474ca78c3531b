"""Unified normalization, power normalization, and the affine map that both norms are at inference."""
from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from cachet.ops._choices import number_of

_ops = torch.ops.cachet
_MEANS = {"geometric": 0, "arithmetic": 1, "none": 2}
_THRESHOLDS = {"pooled": 0, "channel": 1}


class UnifiedNormSettings(NamedTuple):
    """The options of unified normalization (arXiv 2208.01313).

    Attributes:
        forward_window: M, the number of steps whose statistics the forward pass averages.
        backward_window: the number of steps in the arithmetic mean of the gradient's statistic.
        forward_momentum: the momentum of the running statistic.
        backward_momentum: the momentum of the gradient's statistic. 0: the mean of the window is used without a moving
            average.
        eps: the number that is added to the statistic.
        warmup: the number of first steps that use the statistic of their own batch.
        filter_outliers: whether a step uses no averages if the statistics of its window differ too much (Eq. 18–19).
        threshold: the threshold of the filter. "pooled": one threshold for all channels, as in the published code,
            where one channel filters the whole layer. "channel": each channel has its own threshold.
        forward_mean: the mean over the window. "geometric": the mean of the paper. "arithmetic": the arithmetic mean.
            "none": each step uses its own statistic.
        official: if true, steps are counted as in the published code, and the backward pass has the factor r of this
            code.
        rescale: if true, the forward pass also has the factor r, as in moving average batch normalization.
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
    """The state of a layer with unified normalization.

    Attributes:
        statistics: (2 + M + M_b, C), float32 or float64. The rows are running σ², ψ, the last M statistics of the
            forward pass, and the last M_b statistics of the backward pass.
        counters: (4), int64: the number of steps, of filtered steps, and of steps that used the statistics of the
            window. The fourth counter is 1 if the last step was filtered. If each channel has its own threshold, the
            last three counters count channels.
    """

    statistics: Tensor
    counters: Tensor


class UnifiedNormOutput(NamedTuple):
    """The result of unified_norm.

    Attributes:
        output: y, with the shape and dtype of the input.
        statistic: σ̂², (C), the statistic by which the step was normalised.
        on_own: bool, () or, if each channel has its own threshold, (C): whether the step's own values replaced all
            averages.
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
    """Returns the state before the first step: running σ² is 1, and all other values are 0."""
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
    """Computes the training form of unified normalization: arXiv 2208.01313, Algorithm 2 and Eq. 16–19.

    The output is y = w·z + b, with z = x / √(σ̂² + ε). σ̂² is a mean over the last M steps of the mean of x². At
    inference, unified normalization is scale_shift with the scale w / √(σ²_running + ε) and the shift b.

    Args:
        input: (…, C), floating.
        weight: (C), or None.
        bias: (C), or None.
        state: the state of the layer. The forward and the backward pass each write their part of the state. Several
            forward passes may precede a backward pass.
        settings: the options. None: those of the paper.
        padding: (…), bool. True marks padding, which the statistics ignore.
        group: the name of a process group of torch.distributed. The statistics are then over the batches of all its
            processes. "": the statistics are over the batch of this process.

    Returns:
        The output, the statistic by which the step was normalised, and whether this was the step's own statistic. The
        operator computes in the dtype of the statistics. The output is differentiable once.

    Raises:
        RuntimeError: If shapes or dtypes do not agree.
        ValueError: If the name of a threshold or of a mean is not valid.
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
    """The options of power normalization (arXiv 2003.07845).

    Attributes:
        forward_momentum: the momentum of the running statistic ψ².
        backward_momentum: the momentum of the gradient's statistic Γ.
        eps: the number that is added to the statistic.
        warmup: the number of first steps that use the statistic of their own batch.
    """

    forward_momentum: float = 0.9
    backward_momentum: float = 0.9
    eps: float = 1e-5
    warmup: int = 10_000


class PowerNormState(NamedTuple):
    """The state of a layer with power normalization.

    Attributes:
        statistics: (2, C), float32 or float64. The rows are ψ² and Γ.
        counters: (1), int64: the number of steps.
    """

    statistics: Tensor
    counters: Tensor


class PowerNormOutput(NamedTuple):
    """The result of power_norm.

    Attributes:
        output: y, with the shape and dtype of the input.
        used_statistic: (C), the statistic by which the step was normalised.
        statistic: (C), the mean of x² of the step.
    """

    output: Tensor
    used_statistic: Tensor
    statistic: Tensor


def initial_power_norm_state(
    channels: int, *, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None
) -> PowerNormState:
    """Returns the state before the first step: ψ² is 1, and all other values are 0."""
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
    """Computes the training form of power normalization: Shen et al., arXiv 2003.07845.

    The output is y = w·z + b, with z = x / √(s + ε). In the warm-up, s is the mean of x² of the batch. After the
    warm-up, s is ψ². At inference, power normalization is scale_shift with the scale w / √(ψ² + ε) and the shift b.

    Args:
        input: (…, C), floating, with a leading dimension.
        weight: (C), or None.
        bias: (C), or None.
        state: the state of the layer. The forward pass writes ψ² and the counter. The backward pass writes Γ.
        settings: the options. None: those of the paper.
        padding: (…), bool. True marks padding, which the statistics ignore.
        group: the name of a process group of torch.distributed. The statistics are then over the batches of all its
            processes. "": the statistics are over the batch of this process.

    Returns:
        The output, the statistic by which the step was normalised, and the statistic of the step. The output is
        differentiable once.

    Raises:
        RuntimeError: If shapes or dtypes do not agree.
    """
    s = settings or PowerNormSettings()
    output, scales = _ops.power_norm(input, weight, bias, padding, *state, *s, group)
    return PowerNormOutput(output, scales[0], scales[1])


def scale_shift(input: Tensor, scale: Tensor, shift: Tensor | None = None) -> Tensor:
    """Computes x·scale + shift for each channel, where x is the input.

    Norms without run-time statistics have this form at inference: arXiv 2208.01313, Algorithm 1.

    Args:
        input: (…, C), floating.
        scale: (C), float32 or float64. The operator computes in the dtype of scale.
        shift: (C), of the dtype of scale, or None.

    Returns:
        (…, C), in the dtype of input. The result is differentiable in all arguments.

    Raises:
        RuntimeError: If shapes or dtypes do not agree.
    """
    scaled: Tensor = _ops.scale_shift(input, scale, shift)
    return scaled
