#include "cachet/analysis/meta_model.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "cachet/nn/initialization.h"

namespace cachet::analysis {
namespace {

// LibTorch leaves convolution's shape function to Python. x (B, C, …), weight (N, C / groups, …).
at::Tensor meta_convolution(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>&,
                            at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                            at::IntArrayRef output_padding, int64_t groups) {
  std::vector<int64_t> shape{x.size(0), transposed ? weight.size(1) * groups : weight.size(0)};
  const auto dimensions = static_cast<size_t>(x.dim() - 2);
  const auto along = [&](at::IntArrayRef values, size_t i) { return values.size() == 1 ? values[0] : values[i]; };
  for (size_t i = 0; i < dimensions; ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const int64_t reach = along(dilation, i) * (weight.size(axis) - 1);
    shape.push_back(transposed ? (x.size(axis) - 1) * along(stride, i) - 2 * along(padding, i) + reach +
                                     along(output_padding, i) + 1
                               : (x.size(axis) + 2 * along(padding, i) - reach - 1) / along(stride, i) + 1);
  }
  return at::empty(shape, x.options());
}

TORCH_LIBRARY_IMPL(aten, Meta, m) { m.impl("convolution_overrideable", meta_convolution); }

}  // namespace

void move_to_meta(torch::nn::Module& module) {
  at::NoGradGuard no_grad;
  const auto move = [](const torch::Tensor& tensor) {
    if (!tensor.defined() || tensor.is_meta()) return;
    const at::Tensor shape = at::empty_like(tensor, tensor.options().device(at::kMeta));
    tensor.unsafeGetTensorImpl()->shallow_copy_from(shape.getIntrusivePtr());
  };
  for (const auto& parameter : module.parameters()) move(parameter);
  for (const auto& buffer : module.buffers()) move(buffer);
}

std::shared_ptr<models::ImageClassifier> build_on_meta(const models::ImageClassifierPlan& plan) {
  const nn::WithoutInitialization no_values;
  auto model = plan.build();
  move_to_meta(*model);
  return model;
}

}  // namespace cachet::analysis
