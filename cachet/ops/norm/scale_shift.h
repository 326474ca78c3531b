#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Returns y = x·scale + shift, channel by channel: the inference form of all norms without run-time statistics
/// (Unified Normalization, arXiv 2208.01313, Sec. 3.1 and Algorithm 1).
///
/// input (…, C) floating; scale (C) float32 or float64; shift (C) of the same dtype, or none. The arithmetic has the
/// dtype of scale, and y has the dtype of input. Differentiable in all tensors; only the unfused form (ATen operators)
/// is differentiable twice. Throws c10::Error if shapes or dtypes do not agree.
at::Tensor scale_shift(const at::Tensor& input, const at::Tensor& scale, const std::optional<at::Tensor>& shift);

}  // namespace cachet::ops
