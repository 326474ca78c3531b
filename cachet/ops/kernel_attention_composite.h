#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

// Kernel attention as a composition of differentiable ATen operators, for every dtype and device; the twin of
// ops/kernel_attention_fused.h. ops/kernel_attention.h has the formulas; operands were checked.

/// φ(x).
at::Tensor kernel_features_composite(const at::Tensor& x, at::TensorList weights, at::IntArrayRef units);

struct KernelAttendedComposite {
  at::Tensor output;  // (B, H, Lq, e)
  at::Tensor sums;    // (B, H, m, e + 1) float32 or wider: Σ φ(k)[v, 1]ᵀ, after all keys
};

/// sums: those of earlier keys, or undefined.
KernelAttendedComposite kernel_attention_composite(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                   at::TensorList weights, at::IntArrayRef units,
                                                   const std::optional<at::Tensor>& padding, bool causal, double eps,
                                                   double key_eps, at::Tensor sums);

}  // namespace cachet::ops
