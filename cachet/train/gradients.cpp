#include "cachet/train/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/isfinite.h>

#include <cmath>

namespace cachet::train {
namespace {

std::vector<at::Tensor> gradients_of(const std::vector<NamedParameter>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const NamedParameter& parameter : parameters) {
    if (parameter.tensor.grad().defined()) gradients.push_back(parameter.tensor.grad());
  }
  return gradients;
}

bool all_finite(const at::Tensor& tensor) {
  return !(tensor.is_floating_point() || tensor.is_complex()) || at::isfinite(tensor).all().item<bool>();
}

}  // namespace

double gradient_norm(const std::vector<NamedParameter>& parameters) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> gradients = gradients_of(parameters);
  if (gradients.empty()) return 0;
  double sum = 0;
  for (const at::Tensor& norm : at::_foreach_norm(gradients, 2)) {
    const auto value = norm.item<double>();
    sum += value * value;
  }
  return std::sqrt(sum);
}

void clip_gradients(const std::vector<NamedParameter>& parameters, double norm, double most) {
  if (!(norm > most)) return;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients = gradients_of(parameters);
  at::_foreach_mul_(gradients, most / norm);
}

std::optional<std::string> first_non_finite_gradient(const std::vector<NamedParameter>& parameters) {
  const at::NoGradGuard no_grad;
  for (const NamedParameter& parameter : parameters) {
    if (parameter.tensor.grad().defined() && !all_finite(parameter.tensor.grad())) return parameter.name;
  }
  return std::nullopt;
}

std::optional<std::string> first_non_finite(const io::TensorMap& tensors) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : tensors) {
    if (!all_finite(tensor)) return name;
  }
  return std::nullopt;
}

}  // namespace cachet::train
