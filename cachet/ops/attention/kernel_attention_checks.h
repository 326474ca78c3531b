#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/ops/attention/kernel_attention.h"
#include "cachet/ops/support/optional_tensor.h"

namespace cachet::ops {

// What kernel attention asks of its operands, as ops/attention/kernel_attention.h has them. All throw c10::Error.

/// The unit of this number.
FeatureUnit feature_unit_of(int64_t value);

/// The operands of a feature map, x (B, H, L, n); errors open with the operator's name. Returns the width of φ(x).
c10::SymInt check_feature_map(const char* op, const at::Tensor& x, at::TensorList weights, at::IntArrayRef units);

/// Operands of one call, in the order of the schema.
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

/// Returns the width of φ(q).
c10::SymInt check_kernel_attention(const KernelAttentionOperands& call);

}  // namespace cachet::ops
