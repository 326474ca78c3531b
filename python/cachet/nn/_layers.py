"""Layers without state that the others are made of."""
from __future__ import annotations

import math

from torch import Tensor, nn

from cachet import ops


class Linear(nn.Linear):
    """torch.nn.Linear by the faster of the two libraries that PyTorch has (cachet.ops.linear).

    Weights start as a truncated normal distribution with deviation 0.02, biases as zeros, as in C++.
    """

    def reset_parameters(self) -> None:
        """Draws the weights."""
        nn.init.trunc_normal_(self.weight, std=0.02)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """(…, in_features) -> (…, out_features)."""
        return ops.linear(input, self.weight, self.bias)


def draw_convolution(convolution: nn.Conv2d) -> None:
    """Draws the weights of a convolution as those of the published code are."""
    outputs = convolution.out_channels // convolution.groups * math.prod(convolution.kernel_size)
    nn.init.normal_(convolution.weight, std=math.sqrt(2.0 / outputs))
    nn.init.zeros_(convolution.bias)  # type: ignore[arg-type]
