#include "cachet/ops/norm/scale_shift.h"

#include <torch/csrc/autograd/custom_function.h>

#include <tuple>

#include "cachet/ops/norm/token_passes.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check_scale_shift(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  TORCH_CHECK(input.dim() >= 1 && input.is_floating_point(), "scale_shift: input must be floating (..., C), got ",
              input.scalar_type(), " ", input.sym_sizes());
  check_vector("scale_shift", scale, "C", input.sym_size(-1), "scale");
  if (shift) check_vector("scale_shift", *shift, "C", input.sym_size(-1), "shift");
  check_same_device("scale_shift", input, {{"scale", scale}, {"shift", shift}});
  TORCH_CHECK(scale.scalar_type() == at::kFloat || scale.scalar_type() == at::kDouble,
              "scale_shift: scale must be float32 or float64, got ", scale.scalar_type());
  TORCH_CHECK(!shift || shift->scalar_type() == scale.scalar_type(),
              "scale_shift: shift must have the dtype of scale, ", scale.scalar_type(), ", got ", shift->scalar_type());
}

Tensor scale_shift_forward(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  check_scale_shift(input, scale, shift);
  return passes::scale_shift(input, scale, shift);
}

Tensor scale_shift_meta(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  check_scale_shift(input, scale, shift);
  return empty_as(input);
}

// ∂x = dy·scale,  ∂scale = Σ dy·x,  ∂shift = Σ dy
using ScaleShiftBackward = std::tuple<Tensor, Tensor, Tensor>;

void check_gradient(const Tensor& grad, const Tensor& input, const Tensor& scale) {
  check_scale_shift(input, scale, {});
  check_shape("scale_shift_backward", "grad", grad, input.sym_sizes(), input);
}

ScaleShiftBackward scale_shift_backward(const Tensor& grad, const Tensor& input, const Tensor& scale) {
  check_gradient(grad, input, scale);
  const passes::GradientSums sums = passes::gradient_sums(grad, input, {}, scale.scalar_type());
  return {passes::scale_shift(grad, scale, {}), sums.grad_input, sums.grad};
}

ScaleShiftBackward scale_shift_backward_meta(const Tensor& grad, const Tensor& input, const Tensor& scale) {
  check_gradient(grad, input, scale);
  return {empty_as(input), empty_as(scale), empty_as(scale)};
}

struct ScaleShift : torch::autograd::Function<ScaleShift> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& input, const Tensor& scale,
                        const OptionalTensor& shift) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({input, scale});
    ctx->saved_data["shift"] = shift.has_value();
    return scale_shift(input, scale, shift);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<decltype(scale_shift_backward)>("cachet::scale_shift_backward");
    const auto saved = ctx->get_saved_variables();
    const auto [d_input, d_scale, d_shift] = op.call(grads[0], saved[0], saved[1]);
    return {d_input, d_scale, ctx->saved_data["shift"].toBool() ? d_shift : Tensor()};
  }
};

Tensor scale_shift_autograd(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  const bool fused = scale.scalar_type() == at::kFloat && fused_on(input, "scale_shift") != FusedOn::none;
  return fused ? ScaleShift::apply(input, scale, shift) : scale_shift_forward(input, scale, shift);
}

}  // namespace

Tensor scale_shift(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  static const auto op = operator_handle<decltype(scale_shift)>("cachet::scale_shift");
  return op.call(input, scale, shift);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "scale_shift(Tensor input, Tensor scale, Tensor? shift=None) -> Tensor")
      // For all devices: the passes of token_passes.cpp choose CPU kernels themselves.
      .composite(scale_shift_forward)
      .meta(scale_shift_meta)
      .autograd(scale_shift_autograd);
  Operator(m, "scale_shift_backward(Tensor grad, Tensor input, Tensor scale) -> (Tensor, Tensor, Tensor)")
      .composite(scale_shift_backward)
      .meta(scale_shift_backward_meta)
      .without_gradient("scale_shift", kFusedOnce);
}

}  // namespace cachet::ops
