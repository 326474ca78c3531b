#include "cachet/ops/norm/norm_checks.h"

#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {

void check_norm_operands(const char* op, const at::Tensor& input, const std::optional<at::Tensor>& weight,
                         const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& padding) {
  TORCH_CHECK(input.dim() >= 2 && input.is_floating_point(), op,
              ": input must be floating (..., C) with at least one leading dimension, got ", input.scalar_type(), " ",
              input.sym_sizes());
  check_same_device(op, input, {{"weight", weight}, {"bias", bias}, {"padding", padding}});
  const auto channels = input.sym_size(-1);
  if (weight) check_vector(op, *weight, "C", channels, "weight");
  if (bias) check_vector(op, *bias, "C", channels, "bias");
  TORCH_CHECK(!padding || (padding->scalar_type() == at::kBool &&
                           same_sizes(padding->sym_sizes(), input.sym_sizes().slice(0, input.dim() - 1))),
              op, ": padding must be bool with the leading sizes of input ", input.sym_sizes(), ", got ",
              padding->scalar_type(), " ", padding->sym_sizes());
}

void check_norm_statistics(const char* op, const at::Tensor& input, const at::Tensor& statistics, int64_t rows,
                           const char* meaning) {
  check_same_device(op, input, {{"statistics", statistics}});
  const auto channels = input.sym_size(-1);
  TORCH_CHECK(
      statistics.dim() == 2 && same_size(statistics.sym_size(0), rows) && same_size(statistics.sym_size(1), channels),
      op, ": statistics must be (", meaning, ", C) = (", rows, ", ", channels, "), got ", statistics.sym_sizes());
  TORCH_CHECK(statistics.scalar_type() == at::kFloat || statistics.scalar_type() == at::kDouble, op,
              ": statistics must be float32 or float64, got ", statistics.scalar_type());
}

void check_norm_state(const char* op, const at::Tensor& input, const at::Tensor& statistics, int64_t rows,
                      const char* meaning, const at::Tensor& counters, int64_t count) {
  check_norm_statistics(op, input, statistics, rows, meaning);
  check_same_device(op, input, {{"counters", counters}});
  TORCH_CHECK(counters.scalar_type() == at::kLong && is_vector(counters, count), op, ": counters must be (", count,
              ") int64, got ", counters.scalar_type(), " ", counters.sym_sizes());
}

void check_norm_gradient(const char* op, const at::Tensor& grad, const at::Tensor& input,
                         const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& padding,
                         const at::Tensor& scales, const at::Tensor& statistics, int64_t scale_rows) {
  check_norm_operands(op, input, weight, {}, padding);
  check_shape(op, "grad", grad, input.sym_sizes(), input);
  check_shape(op, "scales", scales, {scale_rows, input.sym_size(-1)}, input, statistics.scalar_type());
}

}  // namespace cachet::ops
