#include "cachet/ops/scale_shift.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "cachet/ops/dispatch.h"
#include "cachet/ops/token_passes.h"

namespace cachet::ops {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

void check(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  TORCH_CHECK(input.dim() >= 1 && input.is_floating_point(), "scale_shift: input must be floating (..., C), got ",
              input.scalar_type(), " ", input.sizes());
  for (const auto& [name, tensor] : {std::pair("scale", OptionalTensor(scale)), std::pair("shift", shift)})
    TORCH_CHECK(!tensor || (tensor->dim() == 1 && tensor->size(0) == input.size(-1)), "scale_shift: ", name,
                " must be (C) = (", input.size(-1), "), got ", tensor->sizes());
  TORCH_CHECK(scale.scalar_type() == at::kFloat || scale.scalar_type() == at::kDouble,
              "scale_shift: scale must be float32 or float64, got ", scale.scalar_type());
  TORCH_CHECK(!shift || shift->scalar_type() == scale.scalar_type(), "scale_shift: scale is ", scale.scalar_type(),
              ", shift ", shift->scalar_type());
}

Tensor scale_shift_kernel(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  check(input, scale, shift);
  return passes::scale_shift(input, scale, shift);
}

Tensor scale_shift_meta(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  check(input, scale, shift);
  return at::empty(input.sizes(), input.options());
}

// ∂x = dy·scale,  ∂scale = Σ dy·x,  ∂shift = Σ dy
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
    const auto saved = ctx->get_saved_variables();
    const Tensor &input = saved[0], &scale = saved[1], &dy = grads[0];
    const bool shift = ctx->saved_data["shift"].toBool();
    passes::GradientSums sums;
    if (ctx->needs_input_grad(1) || (shift && ctx->needs_input_grad(2)))
      sums = passes::gradient_sums(dy, input, {}, scale.scalar_type());
    return {passes::scale_shift(dy, scale, {}), sums.grad_input, shift ? sums.grad : Tensor()};
  }
};

Tensor scale_shift_autograd(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  return ScaleShift::apply(input, scale, shift);
}

}  // namespace

Tensor scale_shift(const Tensor& input, const Tensor& scale, const OptionalTensor& shift) {
  static const auto op = operator_handle<decltype(scale_shift)>("cachet::scale_shift");
  return op.call(input, scale, shift);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) { m.def("scale_shift(Tensor input, Tensor scale, Tensor? shift=None) -> Tensor"); }
TORCH_LIBRARY_IMPL(cachet, CompositeExplicitAutograd, m) { m.impl("scale_shift", scale_shift_kernel); }
TORCH_LIBRARY_IMPL(cachet, Meta, m) { m.impl("scale_shift", scale_shift_meta); }
TORCH_LIBRARY_IMPL(cachet, Autograd, m) { m.impl("scale_shift", scale_shift_autograd); }

}  // namespace cachet::ops
