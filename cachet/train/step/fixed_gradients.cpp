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
  if (buffers_.empty())
    zero_gradients(parameters_);
  else
    at::_foreach_zero_(buffers_);
}

bool FixedGradients::fix() {
  const at::NoGradGuard no_grad;
  const auto has_gradient = [](const NamedParameter& parameter) { return parameter.tensor.grad().defined(); };
  if (std::ranges::count_if(parameters_, has_gradient) == std::ssize(gradients_)) return false;
  with_gradient_.clear();
  gradients_.clear();
  buffers_.clear();
  std::ranges::copy_if(parameters_, std::back_inserter(with_gradient_), has_gradient);
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
    at::Tensor fixed = buffers[type].narrow(0, used[type], parameter.tensor.numel()).view(parameter.tensor.sizes());
    used[type] += parameter.tensor.numel();
    fixed.copy_(parameter.tensor.grad());
    parameter.tensor.mutable_grad() = fixed;
    gradients_.push_back(fixed);
  }
  return true;
}

}  // namespace cachet::train
