"""Maps that are cut into windows (Swin, arXiv 2103.14030, Sec. 3.2)."""
from __future__ import annotations

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from cachet import ops

Side = tuple[int, int]
WindowOrder = Literal["shift_then_pad", "pad_then_shift"]


def check_windows(window: Side, shift: Side, order: str) -> None:
    """Checks the window, the shift and the order.

    Raises:
        ValueError: If the window is empty, the shift is negative or not less than the window, or the order is not
            valid.
    """
    if min(window) < 1:
        raise ValueError(f"windows: window must be at least 1 x 1, got {window[0]} x {window[1]}")
    if min(shift) < 0 or shift[0] >= window[0] or shift[1] >= window[1]:
        raise ValueError(
            f"windows: shift must be at least 0 and less than the window of {window[0]} x {window[1]}, got "
            f"{shift[0]} x {shift[1]}"
        )
    if order not in ("shift_then_pad", "pad_then_shift"):
        raise ValueError(f'windows: order: "{order}" is not one of "shift_then_pad", "pad_then_shift"')


class Windows(NamedTuple):
    """The windows of one map.

    Attributes:
        sources: (windows·h·w), int64: the token of each slot. −1: the slot is beyond the map.
        slots: (H·W), int64: the slot of each token.
        mask: (windows, 1, h·w, h·w). The mask is −∞ for two tokens that are in one window only because of the shift,
            and 0 for other pairs. None: there is no shift.
        number: the number of windows of the map.
    """

    sources: Tensor
    slots: Tensor
    mask: Tensor | None
    number: int

    def partition(self, tokens: Tensor) -> Tensor:
        """(B, H·W, C) -> (B·windows, h·w, C). Slots beyond the map have zeros."""
        in_order = ops.permute_tokens(tokens, self.sources, self.slots)
        return in_order.reshape(tokens.shape[0] * self.number, -1, tokens.shape[2])

    def merge(self, windows: Tensor) -> Tensor:
        """The inverse of partition."""
        in_order = windows.reshape(windows.shape[0] // self.number, -1, windows.shape[2])
        return ops.permute_tokens(in_order, self.slots, self.sources)


def make_windows(grid: Side, window: Side, shift: Side, order: WindowOrder, device: torch.device) -> Windows:
    """Makes the windows of a map with the given height and width.

    The shift rolls the map up and to the left before the map is cut.
    """
    sources, regions, counts = [], [], []
    for size, side, moved in zip(grid, window, shift, strict=True):
        padded = math.ceil(size / side) * side
        place = torch.arange(padded, device=device)
        if order == "shift_then_pad":
            source = torch.where(place < size, (place + moved) % size, -1)
        else:
            source = (place + moved) % padded
            source = torch.where(source < size, source, -1)
        sources.append(source)
        # 0 before the last window, and in it 1 before what the shift brought, 2 after.
        regions.append((place >= padded - side).long() + (place >= padded - moved).long())
        counts.append(padded // side)
    count = counts[0] * counts[1]

    def in_windows(rows: Tensor, columns: Tensor, step: int) -> Tensor:
        both = rows.unsqueeze(1) * step + columns
        return both.view(counts[0], window[0], counts[1], window[1]).transpose(1, 2).reshape(count, -1)

    tokens = grid[0] * grid[1]
    inside = in_windows((sources[0] >= 0).long(), (sources[1] >= 0).long(), 2) == 3
    index = torch.where(inside, in_windows(sources[0], sources[1], grid[1]), -1).flatten()
    # What lies beyond the map goes to a slot that is cut off.
    inverse = torch.full((tokens + 1,), -1, dtype=torch.long, device=device)
    slots = torch.arange(len(index), device=device)
    inverse = inverse.scatter(0, torch.where(index < 0, tokens, index), slots)[:tokens]
    mask = None
    if max(shift) > 0:
        region = in_windows(regions[0], regions[1], 3)
        apart = region.unsqueeze(1) != region.unsqueeze(2)
        mask = torch.zeros(apart.shape, device=device).masked_fill(apart, -math.inf).unsqueeze(1)
    return Windows(index, inverse, mask, count)


def relative_index(window: Side, device: torch.device) -> Tensor:
    """Returns the row in the table of offsets for each pair (query, key) of a window's tokens.

    The result is (h·w·h·w), int64.
    """
    rows, columns = (
        place.unsqueeze(1) - place.unsqueeze(0) + len(place) - 1
        for place in (torch.arange(side, device=device) for side in window)
    )
    both = rows[:, None, :, None] * (2 * window[1] - 1) + columns[None, :, None, :]
    return both.flatten()
