"""Parts that the blocks of all models use."""
from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from cachet import ops
from cachet._models._plug_ins import normalized
from cachet.nn import Layout, Linear
from cachet.nn._layers import draw_convolution


class FeedForward(nn.Module):
    """A feed-forward layer: fc2(activation(fc1(x)))."""

    def __init__(self, dim: int, hidden: int, activation: str = "gelu") -> None:
        super().__init__()
        self.fc1, self.fc2 = Linear(dim, hidden), Linear(hidden, dim)
        self.activation = activation

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """(B, T, dim) -> (B, T, dim)."""
        if self.activation == "gelu":
            return cast(Tensor, self.fc2(ops.linear_gelu(x, self.fc1.weight, self.fc1.bias)))
        return cast(Tensor, self.fc2(torch.relu(self.fc1(x))))


class DepthwiseFeedForward(FeedForward):
    """A feed-forward layer with a depthwise 3 × 3 convolution over the grid before the activation (PVT v2)."""

    def __init__(self, dim: int, hidden: int, relu_before: bool) -> None:
        super().__init__(dim, hidden)
        self.dwconv = nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden)
        draw_convolution(self.dwconv)
        self.relu_before = relu_before

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """(B, T, dim) -> (B, T, dim). The tokens must be on a grid."""
        assert layout.grid is not None
        hidden = self.fc1(x)
        if self.relu_before:
            hidden = torch.relu(hidden)
        hidden = ops.token_convolution(hidden, self.dwconv.weight, self.dwconv.bias, grid=layout.grid,
                                       class_tokens=layout.class_tokens, after="gelu")
        return cast(Tensor, self.fc2(hidden))


class TransformerBlock(nn.Module):
    """A block that computes x + attn(norm1(x)), and then x + mlp(norm2(x)).

    If norms_after is true, the norms are applied to these sums instead: norm1(x + attn(x)), and then norm2(x + mlp(x)).
    """

    def __init__(self, norm1: nn.Module, attn: nn.Module, norm2: nn.Module, mlp: FeedForward,
                 norms_after: bool = False) -> None:
        super().__init__()
        self.norm1, self.attn, self.norm2, self.mlp = norm1, attn, norm2, mlp
        self.norms_after = norms_after

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """(B, T, dim) -> (B, T, dim)."""
        inside = layout.of_part("attn")
        if self.norms_after:
            x = normalized(self.norm1, x + self.attn(x, layout=inside), layout.padding)
            return normalized(self.norm2, x + self.mlp(x, layout), layout.padding)
        x = x + self.attn(normalized(self.norm1, x, layout.padding), layout=inside)
        return cast(Tensor, x + self.mlp(normalized(self.norm2, x, layout.padding), layout))
