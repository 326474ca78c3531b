"""Layers without state, which the other layers use."""
from __future__ import annotations

import math

from torch import Tensor, nn

from cachet import ops


class Linear(nn.Linear):
    """torch.nn.Linear, computed with the faster of two libraries that PyTorch can call (cachet.ops.linear).

    As in C++, the initial weights have a truncated normal distribution with a standard deviation of 0.02, and the
    initial biases are zeros.
    """

    def reset_parameters(self) -> None:
        """Initialises the weights randomly, and sets the biases to zero."""
        nn.init.trunc_normal_(self.weight, std=0.02)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """(…, in_features) -> (…, out_features)."""
        return ops.linear(input, self.weight, self.bias)


def draw_convolution(convolution: nn.Conv2d) -> None:
    """Initialises the weights of a convolution randomly, with the distribution of the published code."""
    outputs = convolution.out_channels // convolution.groups * math.prod(convolution.kernel_size)
    nn.init.normal_(convolution.weight, std=math.sqrt(2.0 / outputs))
    nn.init.zeros_(convolution.bias)  # type: ignore[arg-type]
