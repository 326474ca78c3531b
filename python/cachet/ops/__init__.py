"""The operators of Cachet as typed functions.

B is the batch size, L the length of a sequence, and H the number of heads. C, D and n are numbers of channels. In
float32 and bfloat16 on the CPU, most operators run fused kernels. In float64 and on other devices, the operators call
PyTorch's own operators. All tensors of a call must be on one device. If an argument is not valid, the operator raises a
RuntimeError whose message begins with the operator's name. If the string of an option is not valid, the function raises
a ValueError. `torch.ops.cachet.<name>` calls the operator `<name>` directly, with numbers instead of strings as
options.
"""
from __future__ import annotations

from cachet.ops._attention import (
    BlockAttended,
    KeysSeen,
    attention_weights,
    block_attention,
    relative_attention_weights,
    softmax_attention,
)
from cachet.ops._cache import CandidateNorm, GateWeights, GrcUpdated, grc_update, mix_heads
from cachet.ops._detection import Suppressed, nms, roi_align
from cachet.ops._kernels import FeatureMap, FeatureUnit, kernel_attention, kernel_attention_stream, kernel_features
from cachet.ops._linear import CrossEntropies, linear, linear_cross_entropy, linear_gelu
from cachet.ops._norms import (
    PowerNormOutput,
    PowerNormSettings,
    PowerNormState,
    UnifiedNormOutput,
    UnifiedNormSettings,
    UnifiedNormState,
    initial_power_norm_state,
    initial_unified_norm_state,
    power_norm,
    scale_shift,
    unified_norm,
)
from cachet.ops._tokens import dropout, permute_tokens, resize_tokens, token_convolution

__all__ = [
    "BlockAttended",
    "CandidateNorm",
    "CrossEntropies",
    "FeatureMap",
    "FeatureUnit",
    "GateWeights",
    "GrcUpdated",
    "KeysSeen",
    "PowerNormOutput",
    "PowerNormSettings",
    "PowerNormState",
    "Suppressed",
    "UnifiedNormOutput",
    "UnifiedNormSettings",
    "UnifiedNormState",
    "attention_weights",
    "block_attention",
    "dropout",
    "grc_update",
    "initial_power_norm_state",
    "initial_unified_norm_state",
    "kernel_attention",
    "kernel_attention_stream",
    "kernel_features",
    "linear",
    "linear_cross_entropy",
    "linear_gelu",
    "mix_heads",
    "nms",
    "permute_tokens",
    "power_norm",
    "relative_attention_weights",
    "resize_tokens",
    "roi_align",
    "scale_shift",
    "softmax_attention",
    "token_convolution",
    "unified_norm",
]
