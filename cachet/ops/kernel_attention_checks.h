#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "cachet/ops/kernel_attention.h"

namespace cachet::ops {

// What kernel attention asks of its operands, as ops/kernel_attention.h has them. All throw c10::Error.

/// The unit of this number.
FeatureUnit feature_unit_of(int64_t value);

/// The operands of a feature map, x (B, H, L, n); errors open with the operator's name. Returns the width of φ(x).
c10::SymInt check_feature_map(const char* op, const at::Tensor& x, at::TensorList weights, at::IntArrayRef units);

/// The operands of kernel_attention. Returns the width of φ(q).
c10::SymInt check_kernel_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                   at::TensorList weights, at::IntArrayRef units,
                                   const std::optional<at::Tensor>& padding);

}  // namespace cachet::ops
