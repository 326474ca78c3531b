#include "cachet/nn/layers/linear.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "cachet/nn/base/initialization.h"
#include "cachet/ops/linear/linear.h"
#include "cachet/ops/linear/product.h"

namespace cachet::nn {

Linear::Linear(int64_t inputs, int64_t outputs, bool with_bias) : Cloneable("Linear") {
  TORCH_CHECK(inputs >= 1 && outputs >= 1, "linear: needs at least one channel in and out, got ", inputs, " and ",
              outputs);
  weight = register_parameter("weight", at::empty({outputs, inputs}));
  truncated_normal_(weight);
  bias = register_parameter("bias", with_bias ? at::zeros({outputs}) : torch::Tensor(), /*requires_grad=*/with_bias);
}

Linear::Linear(const torch::Tensor& given_weight, const torch::Tensor& given_bias) : Cloneable("Linear") {
  weight = register_parameter("weight", given_weight);
  bias = register_parameter("bias", given_bias, /*requires_grad=*/given_bias.defined());
}

torch::Tensor Linear::forward(const torch::Tensor& x) const {
  TORCH_CHECK(x.dim() >= 1 && x.size(-1) == weight.size(1), "linear: takes (..., ", weight.size(1),
              ") and gives (..., ", weight.size(0), "), got ", x.sizes());
  return ops::linear(x, weight, bias.defined() ? std::optional<torch::Tensor>(bias) : std::nullopt);
}

torch::Tensor Linear::pack() {
  const at::NoGradGuard no_grad;
  torch::Tensor before = weight;
  weight = ops::packed_weight(weight);
  *parameters_.find("weight") = weight;
  return before;
}

void Linear::unpack(const torch::Tensor& unpacked) {
  weight = unpacked;
  *parameters_.find("weight") = weight;
}

torch::Tensor Linear::forward_part(const torch::Tensor& x, int64_t first, int64_t count) const {
  return ops::linear(x, ops::unpacked_weight(weight).narrow(0, first, count),
                     bias.defined() ? std::optional(bias.narrow(0, first, count)) : std::nullopt);
}

torch::TensorOptions Linear::options() const { return weight.options().layout(at::kStrided).requires_grad(false); }

torch::Tensor Linear::bias_or_zeros() const {
  return bias.defined() ? torch::Tensor(bias) : at::zeros({weight.size(0)}, options());
}

void Linear::keep_bias(const torch::Tensor& value) {
  if (bias.defined()) return;
  bias = value.detach().set_requires_grad(weight.requires_grad());
  *parameters_.find("bias") = bias;
}

void Linear::fold_affine_before(const Affine& before) {
  const torch::Tensor shift = bias_or_zeros();
  fold_input_affine("linear", before, weight, shift);
  keep_bias(shift);
}

void Linear::fold_affine_after(const Affine& after) {
  const torch::Tensor shift = bias_or_zeros();
  fold_output_affine("linear", after, weight, shift);
  keep_bias(shift);
}

void pack_linear_layers(const torch::nn::Module& model) { ops::pack_modules(model); }

}  // namespace cachet::nn
