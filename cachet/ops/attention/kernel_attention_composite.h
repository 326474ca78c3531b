#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/ops/attention/kernel_attention_checks.h"

namespace cachet::ops {

// Kernel attention in differentiable ATen operators, for all dtypes and devices: the unfused form of
// ops/attention/kernel_attention_cpu.h. Formulas: ops/attention/kernel_attention.h. Callers check the operands.

/// Returns φ(x).
at::Tensor kernel_features_composite(const at::Tensor& x, at::TensorList weights, at::IntArrayRef units);

struct KernelAttendedComposite {
  at::Tensor output;  // (B, H, Lq, e)
  at::Tensor sums;    // (B, H, m, e + 1) float32 or wider: Σ φ(k)[v, 1]ᵀ over all keys
};

/// Computes kernel attention. `sums`: the sums of earlier keys; empty if there are no earlier keys.
KernelAttendedComposite kernel_attention_composite(const KernelAttentionOperands& call, const OptionalTensor& sums);

}  // namespace cachet::ops
