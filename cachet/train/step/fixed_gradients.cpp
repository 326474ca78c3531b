#include "cachet/train/step/fixed_gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cachet/train/step/gradients.h"

namespace cachet::train {

void FixedGradients::zero() {
  const at::NoGradGuard no_grad;
  if (buffers_.empty()) return zero_gradients(parameters_);
  at::_foreach_zero_(buffers_);
  for (size_t i = 0; i < gradients_.size(); ++i) with_gradient_[i].tensor.mutable_grad() = gradients_[i];
}

bool FixedGradients::fix() {
  const at::NoGradGuard no_grad;
  const bool moves = !has_all_addresses();
  if (moves) give_addresses();
  for (size_t i = 0; i < gradients_.size(); ++i) {
    at::Tensor& gradient = with_gradient_[i].tensor.mutable_grad();
    if (gradient.is_same(gradients_[i])) continue;
    gradients_[i].copy_(gradient);
    gradient = gradients_[i];
  }
  return moves;
}

bool FixedGradients::has_all_addresses() const {
  const auto has_gradient = [](const NamedParameter& parameter) { return parameter.tensor.grad().defined(); };
  return std::ranges::count_if(parameters_, has_gradient) == std::ssize(gradients_);
}

void FixedGradients::give_addresses() {
  with_gradient_.clear();
  gradients_.clear();
  buffers_.clear();
  for (const NamedParameter& parameter : parameters_)
    if (parameter.tensor.grad().defined()) with_gradient_.push_back(parameter);
  std::map<at::ScalarType, int64_t> sizes, used;
  for (const NamedParameter& parameter : with_gradient_)
    sizes[parameter.tensor.scalar_type()] += parameter.tensor.numel();
  std::map<at::ScalarType, at::Tensor> buffers;
  for (const auto& [type, size] : sizes) {
    buffers[type] = at::zeros({size}, with_gradient_.front().tensor.options().dtype(type).requires_grad(false));
    buffers_.push_back(buffers[type]);
  }
  for (const NamedParameter& parameter : with_gradient_) {
    const at::ScalarType type = parameter.tensor.scalar_type();
    const int64_t first = std::exchange(used[type], used[type] + parameter.tensor.numel());
    gradients_.push_back(buffers[type].narrow(0, first, parameter.tensor.numel()).view(parameter.tensor.sizes()));
  }
}

}  // namespace cachet::train
