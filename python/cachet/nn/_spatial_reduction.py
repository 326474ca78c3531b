"""Multi-head attention to fewer keys, which a convolution or a pooling computes from a grid of tokens."""
from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn

from cachet import ops
from cachet.nn._caches import ConcatenatedCache, Layout
from cachet.nn._kernels import KernelAttention
from cachet.nn._layers import draw_convolution
from cachet.nn._multi_head import MultiHeadAttention


class SpatialReductionAttention(MultiHeadAttention):
    """Multi-head attention to a context whose grid of tokens is first reduced to fewer tokens.

    Class tokens of the context are not reduced, but the norm is applied to them.

    Args:
        dim: the number of channels.
        num_heads: H, which must divide dim.
        ratio: the factor by which the convolution reduces the height and the width of the grid. A convolution and a
            norm replace ratio × ratio tokens by one token: PVT, arXiv 2102.12122, Eq. 3–4. If `ratio` is 1, the form
            "convolution" does not reduce the grid.
        form: the form of the reduction. "convolution": a convolution and a norm, as described for ratio. "pooling":
            average pooling to 7 × 7 tokens, a 1 × 1 convolution, a norm and GELU (PVT v2 linear, arXiv 2106.13797, Sec.
            3.2).
        norm: a function that makes the norm for dim channels. None: LayerNorm.
        qkv_bias: whether the projections into the heads have biases.
        function: the attention function, as in MultiHeadAttention.
        cache: a concatenated cache, see MultiHeadAttention. The cache must have one entry for each token of the reduced
            context.
        projection_bias: see MultiHeadAttention.
        head_dim: see MultiHeadAttention.

    The parameters are q, kv and proj. If the grid is reduced, the layer also has sr (the convolution) and norm.

    Raises:
        ValueError: If num_heads does not divide the channels, or if the ratio is below 1.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        *,
        ratio: int = 1,
        form: Literal["convolution", "pooling"] = "convolution",
        norm: Callable[[int], nn.Module] | None = None,
        qkv_bias: bool = True,
        function: KernelAttention | None = None,
        cache: ConcatenatedCache | None = None,
        projection_bias: bool = True,
        head_dim: int | None = None,
    ) -> None:
        super().__init__(
            dim,
            num_heads,
            projection="separate",
            qkv_bias=qkv_bias,
            function=function,
            cache=cache,
            projection_bias=projection_bias,
            head_dim=head_dim,
        )
        if ratio < 1:
            raise ValueError(f"spatial_reduction_attention: ratio must be at least 1, got {ratio}")
        if form not in ("convolution", "pooling"):
            raise ValueError(f'spatial_reduction_attention: form: "{form}" is not one of "convolution", "pooling"')
        self.pools = form == "pooling"
        self.ratio = 1 if self.pools else ratio
        self.reduces = self.pools or ratio > 1
        if self.reduces:
            self.sr = nn.Conv2d(dim, dim, self.ratio, stride=self.ratio)
            draw_convolution(self.sr)
            self.norm = nn.LayerNorm(dim, eps=1e-5) if norm is None else norm(dim)

    def reduced(self, context: Tensor, layout: Layout) -> tuple[Tensor, Layout]:
        """Reduces a context. Returns the reduced tokens, from which keys and values are projected, and their layout.

        Args:
            context: (B, L, D).
            layout: the layout of the context, with a grid and without padding.

        Raises:
            ValueError: If the context has no grid, has padding, or is smaller than the ratio.
        """
        if layout.grid is None or layout.padding is not None:
            raise ValueError("spatial_reduction_attention: the context must lie on a grid and must not have padding")
        height, width = layout.grid
        if min(height, width) < self.ratio:
            raise ValueError(
                f"spatial_reduction_attention: a grid of {height} x {width} is too small to be reduced by "
                f"{self.ratio}; use a larger image or a smaller ratio"
            )
        on_grid = context[:, layout.class_tokens :].transpose(1, 2).reshape(context.shape[0], -1, height, width)
        if self.pools:
            grid = 7, 7
            pooled = nn.functional.adaptive_avg_pool2d(on_grid, 7).flatten(2).transpose(1, 2)
            tokens = ops.linear(pooled, self.sr.weight.flatten(1), self.sr.bias)
        else:
            grid = height // self.ratio, width // self.ratio
            tokens = self.sr(on_grid).flatten(2).transpose(1, 2)
        if layout.class_tokens:
            tokens = torch.cat([context[:, : layout.class_tokens], tokens], 1)
        tokens = self.norm(tokens)
        return nn.functional.gelu(tokens) if self.pools else tokens, Layout(grid, layout.class_tokens)

    def forward(
        self,
        query: Tensor,
        context: Tensor | None = None,
        layout: Layout | None = None,
        *,
        context_layout: Layout | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        """See MultiHeadAttention.forward. The tokens of the context must be on a grid."""
        where = layout or Layout()
        if not self.reduces:
            return super().forward(query, context, layout, context_layout=context_layout, bias=bias)
        if where.causal or where.state is not None or bias is not None:
            raise ValueError(
                "spatial_reduction_attention: cannot use a causal mask, a session state or an attention bias, because "
                "the keys are reduced"
            )
        source, place = (query, where) if context is None else (context, context_layout or Layout())
        keys, lies = self.reduced(source, place)
        return super().forward(query, keys, where, context_layout=lies)
