#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::analysis {

/// The outputs of a cached attention layer's two branches, weighted for each head, and their sum (Cached Transformers,
/// arXiv 2312.12742, Eq. 2). Each tensor is (B, T, H, d), float32 or wider.
struct HeadMixture {
  at::Tensor from_self;    // (1 − σ(λ))·o_self
  at::Tensor from_memory;  // σ(λ)·o_mem; zero in a head's channels beyond the memory's channels
  at::Tensor sum;          // o
};

/// Returns a layer's mixture of the outputs `self_output` (B, T, D) and `memory_output` (B, T, Dm). `gate` is σ(λ) (H).
HeadMixture mixed_by_head(const at::Tensor& gate, const at::Tensor& self_output, const at::Tensor& memory_output);

}  // namespace cachet::analysis
