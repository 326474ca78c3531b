#include "cachet/ops/norm_checks.h"

#include <utility>

#include "cachet/ops/device_check.h"

namespace cachet::ops {

void check_norm_operands(const char* op, const at::Tensor& input, const std::optional<at::Tensor>& weight,
                         const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& padding) {
  TORCH_CHECK(input.dim() >= 2 && input.is_floating_point(), op,
              ": input must be floating (..., C) with at least one leading dimension, got ", input.scalar_type(), " ",
              input.sizes());
  check_same_device(op, input, {{"weight", weight}, {"bias", bias}, {"padding", padding}});
  const int64_t channels = input.size(-1);
  for (const auto& [name, tensor] : {std::pair("weight", weight), std::pair("bias", bias)})
    TORCH_CHECK(!tensor || (tensor->dim() == 1 && tensor->size(0) == channels), op, ": ", name, " must be (C) = (",
                channels, "), got ", tensor->sizes());
  TORCH_CHECK(
      !padding || (padding->scalar_type() == at::kBool && padding->sizes() == input.sizes().slice(0, input.dim() - 1)),
      op, ": padding must be bool with the leading sizes of input ", input.sizes(), ", got ", padding->scalar_type(),
      " ", padding->sizes());
}

void check_norm_statistics(const char* op, const at::Tensor& input, const at::Tensor& statistics, int64_t rows,
                           const char* meaning) {
  check_same_device(op, input, {{"statistics", statistics}});
  const int64_t channels = input.size(-1);
  TORCH_CHECK(statistics.dim() == 2 && statistics.size(0) == rows && statistics.size(1) == channels, op,
              ": statistics must be (", meaning, ", C) = (", rows, ", ", channels, "), got ", statistics.sizes());
  TORCH_CHECK(statistics.scalar_type() == at::kFloat || statistics.scalar_type() == at::kDouble, op,
              ": statistics must be float32 or float64, got ", statistics.scalar_type());
}

void check_norm_state(const char* op, const at::Tensor& input, const at::Tensor& statistics, int64_t rows,
                      const char* meaning, const at::Tensor& counters, int64_t count) {
  check_norm_statistics(op, input, statistics, rows, meaning);
  check_same_device(op, input, {{"counters", counters}});
  TORCH_CHECK(counters.scalar_type() == at::kLong && counters.dim() == 1 && counters.size(0) == count, op,
              ": counters must be (", count, ") int64, got ", counters.scalar_type(), " ", counters.sizes());
}

void check_norm_gradient(const char* op, const at::Tensor& grad, const at::Tensor& input,
                         const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& padding,
                         const at::Tensor& scales, const at::Tensor& statistics) {
  check_norm_operands(op, input, weight, {}, padding);
  check_shape(op, "grad", grad, input.sizes(), input);
  check_shape(op, "scales", scales, {2, input.size(-1)}, input, statistics.scalar_type());
}

}  // namespace cachet::ops
