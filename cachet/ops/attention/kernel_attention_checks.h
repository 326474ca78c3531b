#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/ops/attention/kernel_attention.h"
#include "cachet/ops/support/optional_tensor.h"

namespace cachet::ops {

// Checks of the operands of kernel attention (ops/attention/kernel_attention.h). All checks throw c10::Error.

/// Returns the feature unit whose number is `value`.
FeatureUnit feature_unit_of(int64_t value);

/// Checks the operands of a feature map, x (B, H, L, n). Messages begin with `op`. Returns the width of φ(x).
c10::SymInt check_feature_map(const char* op, const at::Tensor& x, at::TensorList weights, at::IntArrayRef units);

/// The operands of one call of kernel attention, in the order of the operator's schema.
struct KernelAttentionOperands {
  at::Tensor q, k, v;
  at::TensorList weights;
  at::IntArrayRef units;
  OptionalTensor padding;
  bool causal;
  double eps, key_eps;

  template <class Take>
  auto list(const Take& take) const {
    return take(q, k, v, weights, units, padding, causal, eps, key_eps);
  }
};

/// Checks the operands of a call of kernel attention. Returns the width of φ(q).
c10::SymInt check_kernel_attention(const KernelAttentionOperands& call);

}  // namespace cachet::ops
