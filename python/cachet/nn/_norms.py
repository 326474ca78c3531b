"""Norms that need no statistics of their input at inference."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from cachet import ops
from cachet.nn._processes import scale_gradient
from cachet.nn._state import StateModule


def _affine(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    # Weights may be stored narrow; the map is not, and is at least as wide as what it maps.
    wide = torch.promote_types(torch.promote_types(scale.dtype, torch.float32), x.dtype)
    return ops.scale_shift(x, scale.to(wide), shift.to(wide))


def _over_processes(norm: Any, step: Callable[[Tensor, Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
    """Runs a training step of a norm with its own weight and bias.

    The loss of each of P processes is the mean over its part of the batch. In one process with the whole batch, these
    gradients would be P times smaller. The norm stores statistics of the gradients, so the gradients that it gets are
    divided by P. The gradients that it returns are multiplied by P.
    """
    if not norm.group:
        return step(x, norm.weight, norm.bias)
    x, weight, bias = (scale_gradient(each, float(norm.processes)) for each in (x, norm.weight, norm.bias))
    return scale_gradient(step(x, weight, bias), 1 / norm.processes)


class _WindowNorm(StateModule):
    """The base class of UnifiedNorm and MABN, which call the operator unified_norm with different settings."""

    statistics: Tensor
    counters: Tensor

    def __init__(self, channels: int, settings: ops.UnifiedNormSettings) -> None:
        super().__init__()
        self.channels, self.settings = channels, settings
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        state = ops.initial_unified_norm_state(channels, settings)
        self.register_buffer("statistics", state.statistics)
        self.register_buffer("counters", state.counters)

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        """Normalizes tokens. In training, each call updates the running statistics by one step.

        Args:
            x: the tokens, (…, C), floating-point.
            padding: (…), bool. True marks the tokens of padding, which the statistics ignore.

        Returns:
            A tensor with the shape and dtype of x. The values at padded positions are not defined.

        Raises:
            RuntimeError: If the shapes or dtypes of the arguments do not agree.
        """
        if not self.training:
            return _affine(x, *self.inference_affine())
        state = ops.UnifiedNormState(**self._state_of_step("unified_norm"))
        return _over_processes(
            self,
            lambda given, weight, bias: ops.unified_norm(
                given, weight, bias, state, self.settings, padding=padding, group=self.group
            ).output,
            x,
        )

    def inference_affine(self) -> tuple[Tensor, Tensor]:
        """Returns the scale and the shift, both (C), that evaluation applies to each channel."""
        return self.weight * torch.rsqrt(self.statistics[0] + self.settings.eps), self.bias

    def restart_warmup(self) -> None:
        """Starts the warm-up again, for fine-tuning. The statistics do not change."""
        self.counters[0] = 0

    def extra_repr(self) -> str:
        """Returns the number of channels and the settings, as text."""
        return f"{self.channels}, {self.settings}"


class UnifiedNorm(_WindowNorm):
    """Unified normalization: arXiv 2208.01313.

    In training, each forward pass updates the running statistics by one step. In evaluation, the layer is the affine
    map y = x·w / √(σ²_running + ε) + b. The affine map can be folded into the next layer.

    Args:
        channels: C, the number of channels.
        settings: the options, see cachet.ops.UnifiedNormSettings. If `settings` is not given, the options of the paper
            are used.

    The parameters are `weight` and `bias`, both (C). The buffers are `statistics` and `counters`, see
    cachet.ops.UnifiedNormState.
    """

    def __init__(self, channels: int, settings: ops.UnifiedNormSettings | None = None) -> None:
        super().__init__(channels, settings or ops.UnifiedNormSettings())


class MABN(_WindowNorm):
    """Moving average batch normalization (arXiv 2001.06838), as implemented in the code of unified normalization.

    Args:
        channels: C, the number of channels.
        window: the number of steps over which the statistic and the gradient's statistic are averaged.
        momentum: the momentum of the running statistic.
        eps: ε, which is added to the statistic before the square root is computed.
        warmup: the number of steps at the start of training in which each batch is normalised with its own statistic.
    """

    def __init__(
        self, channels: int, *, window: int = 16, momentum: float = 0.98, eps: float = 1e-5, warmup: int = 100
    ) -> None:
        super().__init__(
            channels,
            ops.UnifiedNormSettings(
                forward_window=window,
                backward_window=window,
                forward_momentum=momentum,
                backward_momentum=0.0,
                eps=eps,
                warmup=warmup,
                filter_outliers=False,
                forward_mean="arithmetic",
                official=True,
                rescale=True,
            ),
        )


class PowerNorm(StateModule):
    """Power normalization: Shen et al., arXiv 2003.07845.

    In training, each forward pass updates the running statistics by one step. Without group scaling (PN* of arXiv
    2208.01313), the layer is an affine map in evaluation.

    Args:
        channels: C, the number of channels.
        settings: the options, see cachet.ops.PowerNormSettings. If `settings` is not given, the options of the paper
            are used.
        group_scaling: if true, the layer first computes x / √(mean of x² over the channels of a token + ε), also in
            evaluation.

    The parameters are `weight` and `bias`, both (C). The buffers are `statistics` and `counters`, see
    cachet.ops.PowerNormState.
    """

    statistics: Tensor
    counters: Tensor

    def __init__(
        self, channels: int, settings: ops.PowerNormSettings | None = None, *, group_scaling: bool = True
    ) -> None:
        super().__init__()
        self.channels, self.settings, self.group_scaling = channels, settings or ops.PowerNormSettings(), group_scaling
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        state = ops.initial_power_norm_state(channels)
        self.register_buffer("statistics", state.statistics)
        self.register_buffer("counters", state.counters)

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        """Normalizes tokens. In training, each call updates the running statistics by one step.

        Args:
            x: the tokens, (…, C), floating-point, with at least one dimension before C.
            padding: (…), bool. True marks the tokens of padding, which the statistics ignore.

        Returns:
            A tensor with the shape and dtype of x. The values at padded positions are not defined.

        Raises:
            RuntimeError: If the shapes or dtypes of the arguments do not agree.
        """
        if self.group_scaling:
            x = torch.rms_norm(x, (x.shape[-1],), None, self.settings.eps)
        if not self.training:
            scale = self.weight * torch.rsqrt(self.statistics[0] + self.settings.eps)
            return _affine(x, scale, self.bias)
        state = ops.PowerNormState(**self._state_of_step("power_norm"))
        return _over_processes(
            self,
            lambda given, weight, bias: ops.power_norm(
                given, weight, bias, state, self.settings, padding=padding, group=self.group
            ).output,
            x,
        )

    def inference_affine(self) -> tuple[Tensor, Tensor] | None:
        """Returns the scale and the shift, both (C), that evaluation applies to each channel.

        If the layer has group scaling, returns None, because the layer is not an affine map of its input.
        """
        if self.group_scaling:
            return None
        return self.weight * torch.rsqrt(self.statistics[0] + self.settings.eps), self.bias

    def extra_repr(self) -> str:
        """Returns the number of channels and the settings, as text."""
        return f"{self.channels}, {self.settings}, group_scaling={self.group_scaling}"
