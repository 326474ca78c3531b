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
        backward_window: M_b, the number of steps in the arithmetic mean of the gradient's statistic.
        forward_momentum: the momentum of the running statistic.
        backward_momentum: the momentum of the moving average of the gradient's statistic. If `backward_momentum` is 0,
            the mean over the window is used without a moving average.
        eps: ε, which is added to the statistic before the square root is computed.
        warmup: the number of steps at the start of training in which each batch is normalised with its own statistic.
        filter_outliers: whether a step is filtered if the statistics in its window differ too much (Eq. 18–19). A
            filtered step uses its own statistics instead of averages.
        threshold: the threshold of the outlier filter. "pooled": all channels have one common threshold, as in the
            published code, and the step is filtered in all channels if the statistics of one channel differ by more
            than the common threshold. "channel": each channel has its own threshold.
        forward_mean: the mean over the window. "geometric": the mean of the paper. "arithmetic": the arithmetic mean.
            "none": each step uses its own statistic.
        official: if true, steps are counted as in the published code, and the backward pass has the factor r of the
            published code.
        rescale: if true, the output is y = w·r·z + b with the factor r, as in moving average batch normalization.
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
        statistics: (2 + M + M_b, C), float32 or float64. The rows of `statistics` are the running σ², the gradient's
            statistic ψ, the last M statistics of the forward pass, and the last M_b statistics of the backward pass.
        counters: (4), int64. The first three counters are the numbers of all steps, of filtered steps, and of steps
            that used the statistics of the window. The fourth counter is 1 if the last step was filtered. If each
            channel has its own threshold, the last three counters count channels: a step that filters 5 channels adds
            5.
    """

    statistics: Tensor
    counters: Tensor


class UnifiedNormOutput(NamedTuple):
    """The result of unified_norm.

    Attributes:
        output: the normalised input y, with the shape and dtype of the input.
        statistic: σ̂², (C), the statistic that normalised the step.
        on_own: bool: whether the step was filtered, so that it used its own statistics instead of averages. In the
            warm-up, no step is filtered. If the settings have `official=True` and `forward_window=1`, `on_own` is
            always true. The shape of `on_own` is (C) if each channel has its own threshold, and otherwise ().
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
    """Returns the state of unified normalization before its first step: running σ² is 1, all other values are 0."""
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

    The output is y = w·z + b, with z = x / √(σ̂² + ε). For each step, the statistic is the mean of x², and σ̂² is the
    mean of this statistic over the last M steps (by default, the geometric mean). At inference, unified normalization
    is scale_shift with the scale w / √(σ²_running + ε) and the shift b.

    Args:
        input: the tokens, (…, C), floating-point.
        weight: (C), or None.
        bias: (C), or None.
        state: the state of the layer. The forward pass updates one part of the state, and the backward pass updates
            another part. Several forward passes may precede a backward pass.
        settings: the options of the norm. If `settings` is not given, the options of the paper are used.
        padding: (…), bool. True marks the tokens of padding, which the statistics ignore.
        group: the name of a process group of torch.distributed. The statistics are means over the batches of all
            processes of the group. If `group` is "", the statistics are means over the batch of this process.

    Returns:
        The output, the statistic that normalised the step, and whether the step was filtered. The operator computes in
        the dtype of the statistics. The output is differentiable once.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree.
        ValueError: If the value of `threshold` or of `forward_mean` in the settings is not valid.
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
        eps: ε, which is added to the statistic before the square root is computed.
        warmup: the number of steps at the start of training in which each batch is normalised with its own statistic.
    """

    forward_momentum: float = 0.9
    backward_momentum: float = 0.9
    eps: float = 1e-5
    warmup: int = 10_000


class PowerNormState(NamedTuple):
    """The state of a layer with power normalization.

    Attributes:
        statistics: (2, C), float32 or float64. The rows of `statistics` are the running statistic ψ² and the gradient's
            statistic Γ.
        counters: (1), int64: the number of steps.
    """

    statistics: Tensor
    counters: Tensor


class PowerNormOutput(NamedTuple):
    """The result of power_norm.

    Attributes:
        output: the normalised input y, with the shape and dtype of the input.
        used_statistic: (C), the statistic that normalised the step.
        statistic: (C), the mean of x² over the tokens of the step.
    """

    output: Tensor
    used_statistic: Tensor
    statistic: Tensor


def initial_power_norm_state(
    channels: int, *, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None
) -> PowerNormState:
    """Returns the state of power normalization before its first step: ψ² is 1, and all other values are 0."""
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

    The output is y = w·z + b, with z = x / √(s + ε). During the warm-up, the statistic s of the divisor is the mean of
    x² over the batch. After the warm-up, the statistic s is the running statistic ψ². At inference, power normalization
    is scale_shift with the scale w / √(ψ² + ε) and the shift b.

    Args:
        input: the tokens, (…, C), floating-point, with at least one dimension before C.
        weight: (C), or None.
        bias: (C), or None.
        state: the state of the layer. The forward pass updates ψ² and the counter. The backward pass updates Γ.
        settings: the options of the norm. If `settings` is not given, the options of the paper are used.
        padding: (…), bool. True marks the tokens of padding, which the statistics ignore.
        group: the name of a process group of torch.distributed. The statistics are means over the batches of all
            processes of the group. If `group` is "", the statistics are means over the batch of this process.

    Returns:
        The output, the statistic that normalised the step, and the mean of x² over the tokens of this step. The output
        is differentiable once.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree.
    """
    s = settings or PowerNormSettings()
    output, scales = _ops.power_norm(input, weight, bias, padding, *state, *s, group)
    return PowerNormOutput(output, scales[0], scales[1])


def scale_shift(input: Tensor, scale: Tensor, shift: Tensor | None = None) -> Tensor:
    """Computes x·scale + shift for each channel, where x is the input.

    At inference, scale_shift computes norms that need no statistics of their input, such as unified normalization:
    arXiv 2208.01313, Algorithm 1.

    Args:
        input: the tokens, (…, C), floating-point.
        scale: the factor of each channel, (C), float32 or float64. The operator computes in the dtype of scale.
        shift: the number that is added to each channel, (C), of the dtype of scale. If `shift` is not given, the result
            is x·scale.

    Returns:
        A tensor (…, C) in the dtype of input. The result is differentiable in all arguments.

    Raises:
        RuntimeError: If the shapes or dtypes of the arguments do not agree.
    """
    scaled: Tensor = _ops.scale_shift(input, scale, shift)
    return scaled
