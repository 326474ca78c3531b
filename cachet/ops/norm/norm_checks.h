#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Throws c10::Error unless the operands fit a channel-wise norm: input (…, C) with a leading dimension, weight and
/// bias (C), padding bool with the leading sizes. The message begins with `op`.
void check_norm_operands(const char* op, const at::Tensor& input, const std::optional<at::Tensor>& weight,
                         const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& padding);

/// Checks statistics (rows, C) in float32 or float64, and counters (count) in int64. `meaning`: `rows` as a formula.
void check_norm_state(const char* op, const at::Tensor& input, const at::Tensor& statistics, int64_t rows,
                      const char* meaning, const at::Tensor& counters, int64_t count);

/// Checks only the statistics, in the same way as check_norm_state().
void check_norm_statistics(const char* op, const at::Tensor& input, const at::Tensor& statistics, int64_t rows,
                           const char* meaning);

/// Checks the operands of a norm's backward operator: grad must have the sizes of input; scales (scale_rows, C).
void check_norm_gradient(const char* op, const at::Tensor& grad, const at::Tensor& input,
                         const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& padding,
                         const at::Tensor& scales, const at::Tensor& statistics, int64_t scale_rows = 2);

}  // namespace cachet::ops
