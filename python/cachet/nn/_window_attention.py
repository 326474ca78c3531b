"""Attention in windows of a map, with or without attention to a cache."""
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cachet.nn._cached_attention import Branch, CachedAttention
from cachet.nn._caches import Cache, ConcatenatedCache, Layout
from cachet.nn._multi_head import MultiHeadAttention
from cachet.nn._windows import Side, WindowOrder, Windows, check_windows, make_windows


class _InWindows(nn.Module):
    """The base class of the attention layers in windows."""

    window: Side
    shift: Side
    order: WindowOrder

    def _set_windows(self, window: Side, shift: Side, order: WindowOrder) -> None:
        check_windows(window, shift, order)
        self.window, self.shift, self.order = window, shift, order
        self._made: tuple[Any, Windows] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}

    def _windows(self, x: Tensor, layout: Layout | None) -> Windows:
        if layout is None or layout.grid is None or layout.class_tokens or layout.padding is not None:
            raise ValueError("window_attention: tokens must lie on a grid, without class tokens or padding")
        if layout.causal or layout.state is not None:
            raise ValueError(
                "window_attention: cannot use a causal mask or a session state, because the tokens of a window have no "
                "order"
            )
        if x.shape[1] != layout.grid[0] * layout.grid[1]:
            raise ValueError(
                f"window_attention: {x.shape[1]} tokens do not lie on a grid of {layout.grid[0]} x {layout.grid[1]}"
            )
        if torch.compiler.is_compiling():
            return make_windows(layout.grid, self.window, self.shift, self.order, x.device)
        key = layout.grid, x.device
        if self._made is None or self._made[0] != key:
            self._made = key, make_windows(layout.grid, self.window, self.shift, self.order, x.device)
        return self._made[1]



class WindowAttention(_InWindows, MultiHeadAttention):
    """Multi-head attention in windows of a map, with a bias for each offset of two tokens: Swin, arXiv 2103.14030.

    Args:
        dim: the number of channels.
        num_heads: H, which must divide dim.
        window: the height and the width of a window.
        shift: the numbers of rows and columns by which the map is rolled up and to the left before it is cut into
            windows. The shift must be less than the window in both directions.
        order: the order of shifting and padding. "shift_then_pad": the shift wraps around the map, and zeros fill the
            last windows, as in timm and in the published code for classification. "pad_then_shift": the shift wraps
            around the padded map, as in the published code for detection.
        qkv_bias: whether the projections into the heads have biases.
        cache: a concatenated cache, see MultiHeadAttention. The cache must have one entry for each token of a window.

    The parameters are qkv, proj and relative_position_bias_table.

    Raises:
        ValueError: If an option is out of its range.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        window: Side,
        *,
        shift: Side = (0, 0),
        order: WindowOrder = "shift_then_pad",
        qkv_bias: bool = True,
        cache: ConcatenatedCache | None = None,
    ) -> None:
        super().__init__(dim, num_heads, qkv_bias=qkv_bias, cache=cache, relative_window=window)
        self._set_windows(window, shift, order)

    def forward(
        self,
        query: Tensor,
        context: Tensor | None = None,
        layout: Layout | None = None,
        *,
        context_layout: Layout | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        """Computes attention within each window.

        Args:
            query: (B, H·W, D).
            context: must be None, because windows have only self-attention.
            layout: the layout of the tokens: the grid of the map, without class tokens or padding.
            context_layout: must be None.
            bias: must be None.

        Returns:
            (B, H·W, D).

        Raises:
            ValueError: If `context` or `bias` is given, or if the layout has no grid, or has class tokens, padding,
                causality or a state.
        """
        if context is not None or context_layout is not None or bias is not None:
            raise ValueError("window_attention: is a self-attention; it cannot use a context or an attention bias")
        windows = self._windows(query, layout)
        return windows.merge(super().forward(windows.partition(query), None, Layout(self.window), bias=windows.mask))



class CachedWindowAttention(_InWindows, CachedAttention):
    """A CachedAttention that computes attention in windows of a map. All windows use one cache.

    The cache stores a mean over all windows of all samples.

    Args:
        dim: the number of channels.
        num_heads: H, the number of heads. H must divide dim and the number Dm of the cache's channels.
        cache: the cache for a layer with dim channels. The cache stores one token for each position in a window (the
            mean over all windows), and not one for each position in the map.
        window: the height and the width of a window.
        shift: see WindowAttention.
        order: see WindowAttention.
        share_start: see CachedAttention.
        positional_convolution: see CachedAttention. The convolution is over the grid of each window.
        qkv_bias: whether the projections into the heads have biases.

    The layer has the same parts as CachedAttention. The part self_attention of the layer also has the parameter
    relative_position_bias_table.

    Raises:
        ValueError: If an option is out of its range.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        cache: Cache,
        window: Side,
        *,
        shift: Side = (0, 0),
        order: WindowOrder = "shift_then_pad",
        share_start: float | None = None,
        positional_convolution: bool | None = None,
        qkv_bias: bool = True,
    ) -> None:
        def in_window(channels: int, branch: Branch) -> nn.Module:
            if branch == "self":
                return MultiHeadAttention(channels, num_heads, qkv_bias=qkv_bias, relative_window=window)
            return MultiHeadAttention(channels, num_heads, projection="separate", qkv_bias=qkv_bias)

        super().__init__(
            dim,
            num_heads,
            cache,
            share_start=share_start,
            positional_convolution=positional_convolution,
            attention=in_window,
        )
        self._set_windows(window, shift, order)

    def forward(self, x: Tensor, layout: Layout | None = None, *, bias: Tensor | None = None) -> Tensor:
        """Computes attention in windows and to the cache. In training, each call updates the cache by one step.

        Args:
            x: (B, H·W, D).
            layout: the layout of the tokens: the grid of the map, without class tokens or padding.
            bias: must be None.

        Returns:
            (B, H·W, D).

        Raises:
            ValueError: If `bias` is given, or if the layout has no grid, or has class tokens, padding, causality or a
                state.
        """
        if bias is not None:
            raise ValueError("window_attention: cannot use an attention bias")
        windows = self._windows(x, layout)
        return windows.merge(super().forward(windows.partition(x), Layout(self.window), bias=windows.mask))
