#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::analysis {

/// What a cached attention layer makes of its two branches (Cached Transformers, arXiv 2312.12742, Eq. 2), head by
/// head: (B, T, H, d) each, float32 or wider.
struct HeadMixture {
  at::Tensor from_self;    // (1 − σ(λ))·o_self
  at::Tensor from_memory;  // σ(λ)·o_mem, zeros after the memory's channels of a head
  at::Tensor sum;          // o
};

/// gate: σ(λ) (H); self_output (B, T, D), memory_output (B, T, Dm), as the layer reports them.
HeadMixture mixed_by_head(const at::Tensor& gate, const at::Tensor& self_output, const at::Tensor& memory_output);

}  // namespace cachet::analysis
