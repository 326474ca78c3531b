"""Layers as modules of PyTorch. Parameters and buffers have the same names as in the C++ layers.

You can therefore load one state dict into a Python layer and into a C++ layer. `half()` and `to(torch.bfloat16)` cast
parameters. Statistics, counters and caches stay float32 or wider, because the eight bits of bfloat16's mantissa are not
enough for averages over thousands of steps.
"""
from __future__ import annotations

from cachet.nn._cached_attention import CachedAttention, FixedContextAttention
from cachet.nn._caches import Cache, ConcatenatedCache, FifoCache, GatedRecurrentCache, Layout
from cachet.nn._kernels import KernelAttention, KernelForm
from cachet.nn._layers import Linear
from cachet.nn._multi_head import MultiHeadAttention
from cachet.nn._norms import MABN, PowerNorm, UnifiedNorm
from cachet.nn._processes import StateOwner, distribute, share_state
from cachet.nn._spatial_reduction import SpatialReductionAttention
from cachet.nn._state import StateModule
from cachet.nn._stream import StreamState
from cachet.nn._window_attention import CachedWindowAttention, WindowAttention

__all__ = [
    "MABN",
    "Cache",
    "CachedAttention",
    "CachedWindowAttention",
    "ConcatenatedCache",
    "FifoCache",
    "FixedContextAttention",
    "GatedRecurrentCache",
    "KernelAttention",
    "KernelForm",
    "Layout",
    "Linear",
    "MultiHeadAttention",
    "PowerNorm",
    "SpatialReductionAttention",
    "StateModule",
    "StateOwner",
    "StreamState",
    "UnifiedNorm",
    "WindowAttention",
    "distribute",
    "share_state",
]
