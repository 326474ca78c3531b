#include "cachet/ops/token_passes.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>

namespace cachet::ops::passes {
namespace {

using at::Tensor;

// x (…, C) as (N, C) in a wide type, zero at the padding.
Tensor valid_rows(const Tensor& x, const std::optional<Tensor>& padding, at::ScalarType wide) {
  const Tensor rows = x.reshape({-1, x.size(-1)}).to(wide);
  return padding ? at::where(padding->reshape({-1, 1}), at::Scalar(0), rows) : rows;
}

}  // namespace

Tensor valid_tokens(const Tensor& x, const std::optional<Tensor>& padding, at::ScalarType wide) {
  if (padding) return padding->bitwise_not().sum().clamp_min(1).to(wide);
  const int64_t tokens = x.size(-1) > 0 ? x.numel() / x.size(-1) : 0;
  return at::scalar_tensor(static_cast<double>(std::max<int64_t>(tokens, 1)), x.options().dtype(wide));
}

Tensor sum_of_squares(const Tensor& x, const std::optional<Tensor>& padding, at::ScalarType wide) {
  return valid_rows(x, padding, wide).square().sum(0);
}

GradientSums gradient_sums(const Tensor& grad, const Tensor& x, const std::optional<Tensor>& padding,
                           at::ScalarType wide) {
  const Tensor dy = valid_rows(grad, padding, wide);
  return {(dy * valid_rows(x, padding, wide)).sum(0), dy.sum(0)};
}

Tensor scale_shift(const Tensor& x, const Tensor& scale, const std::optional<Tensor>& shift) {
  Tensor y = x.to(scale.scalar_type()) * scale;
  if (shift) y = y + *shift;
  return y.to(x.scalar_type()).contiguous();
}

Tensor scale_subtract(const Tensor& grad, const Tensor& grad_scale, const Tensor& x, const Tensor& input_scale) {
  const auto wide = grad_scale.scalar_type();
  return (grad.to(wide) * grad_scale - x.to(wide) * input_scale).to(x.scalar_type()).contiguous();
}

}  // namespace cachet::ops::passes
