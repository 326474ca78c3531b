"""Attention in windows of a map, alone and mixed with attention to a memory."""
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cachet.nn._cached_attention import Branch, CachedAttention
from cachet.nn._caches import Cache, ConcatenatedCache, Layout
from cachet.nn._multi_head import MultiHeadAttention
from cachet.nn._windows import Side, WindowOrder, Windows, check_windows, make_windows


class _InWindows(nn.Module):
    """What the attentions in windows have in common."""

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
            raise ValueError("window_attention: tokens of a window have no order of their own: no causal mask or state")
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
    """Multi-head attention in windows of a map, with a learned bias for each offset: Swin, arXiv 2103.14030.

    Args:
        dim: channels.
        num_heads: H, which divides dim.
        window: height and width.
        shift: rows and columns by which the map is rolled up and left before it is cut, less than the window.
        order: "shift_then_pad" as timm and the classification code: the shift wraps around the map, zeros fill the last
            windows; "pad_then_shift" as the detection code: the shift wraps around the padded map.
        qkv_bias: whether the projections to heads have biases.
        cache: as of MultiHeadAttention, with an entry for each token of a window.

    Parameters: qkv, proj, relative_position_bias_table.

    Raises:
        ValueError: an option is out of its range.
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
        """Attends within each window.

        Args:
            query: (B, H·W, D).
            context: None: windows are of self-attention.
            layout: with the grid of the map, without class tokens and padding.
            context_layout: None.
            bias: None.

        Returns:
            (B, H·W, D).

        Raises:
            ValueError: there is a context or a bias, or the layout is not of a grid alone.
        """
        if context is not None or context_layout is not None or bias is not None:
            raise ValueError("window_attention: windows are of self-attention: no context and no bias of its own")
        windows = self._windows(query, layout)
        return windows.merge(super().forward(windows.partition(query), None, Layout(self.window), bias=windows.mask))



class CachedWindowAttention(_InWindows, CachedAttention):
    """CachedAttention in windows of a map. One cache serves all windows; its mean is over all windows of all samples.

    Args:
        dim: channels.
        num_heads: H, which divides dim and Dm.
        cache: for a layer of dim channels; its tokens are a window's.
        window: height and width.
        shift: as of WindowAttention.
        order: as of WindowAttention.
        share_start: as of CachedAttention.
        positional_convolution: as of CachedAttention, over the grid of a window.
        qkv_bias: whether the projections to heads have biases.

    Parts: those of CachedAttention; self_attention has a relative_position_bias_table.

    Raises:
        ValueError: an option is out of its range.
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
        """Attends within each window and to the memory; in training, this is one step of the cache.

        Args:
            x: (B, H·W, D).
            layout: with the grid of the map, without class tokens and padding.
            bias: None.

        Returns:
            (B, H·W, D).

        Raises:
            ValueError: there is a bias, or the layout is not of a grid alone.
        """
        if bias is not None:
            raise ValueError("window_attention: windows have no bias of their own")
        windows = self._windows(x, layout)
        return windows.merge(super().forward(windows.partition(x), Layout(self.window), bias=windows.mask))
