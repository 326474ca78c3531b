#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

/// Mixes self-attention and memory attention head by head: O_h = σ(λ_h)·mem_h + (1 − σ(λ_h))·self_h (Cached
/// Transformers, arXiv 2312.12742, Eq. 2). Heads of memory attention may have fewer channels than heads of
/// self-attention; the missing channels of memory count as zeros.
///
/// self (B, T, H, d); memory (B, T, H, m) with m ≤ d and the same dtype; logit (H) is λ. Returns (B, T, H, d) in the
/// dtype of self. Under autocast, self and memory are converted to the autocast dtype, but λ is not. Throws c10::Error
/// if ranks, sizes or dtypes do not agree.
at::Tensor mix_heads(const at::Tensor& self, const at::Tensor& memory, const at::Tensor& logit);

}  // namespace cachet::ops
