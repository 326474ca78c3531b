#include "cachet/train/step/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "cachet/train/step/host_copy.h"

namespace cachet::train {
namespace {

std::vector<at::Tensor> gradients_of(const std::vector<NamedParameter>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const NamedParameter& parameter : parameters) {
    if (parameter.tensor.grad().defined()) gradients.push_back(parameter.tensor.grad());
  }
  return gradients;
}

}  // namespace

void zero_gradients(const std::vector<NamedParameter>& parameters) {
  for (const NamedParameter& parameter : parameters) parameter.tensor.mutable_grad().reset();
}

at::Tensor gradient_norms(const std::vector<NamedParameter>& parameters) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> gradients = gradients_of(parameters);
  return gradients.empty() ? at::empty({0}) : at::stack(at::_foreach_norm(gradients, 2));
}

double norm_of_norms(std::span<const double> norms) {
  double sum = 0;
  for (const double norm : norms) sum += norm * norm;
  return std::sqrt(sum);
}

void scale_gradients(const std::vector<NamedParameter>& parameters, double factor) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> gradients = gradients_of(parameters);
  if (!gradients.empty()) at::_foreach_mul_(gradients, factor);
}

void add_gradients(const std::vector<NamedParameter>& parameters, ops::BatchReducer& reducer) {
  const at::NoGradGuard no_grad;
  if (parameters.empty()) return;
  // One sum for all of them; how many processes have a gradient of each goes before them.
  std::vector<float> there;
  std::vector<at::Tensor> gradients;
  std::vector<int64_t> sizes{static_cast<int64_t>(parameters.size())};
  for (const NamedParameter& parameter : parameters) {
    const at::Tensor& gradient = parameter.tensor.grad();
    there.push_back(gradient.defined() ? 1 : 0);
    sizes.push_back(parameter.tensor.numel());
    gradients.push_back(gradient.defined() ? gradient.reshape(-1)
                                           : at::zeros({sizes.back()}, parameter.tensor.options()));
  }
  gradients.insert(gradients.begin(), at::tensor(there).to(parameters.front().tensor.device()));
  at::Tensor all = at::cat(gradients);
  reducer.all_reduce(all);
  const std::vector<at::Tensor> sums = all.split_with_sizes(sizes);
  const at::Tensor counts = sums.front().to(at::kFloat).cpu();
  const float* count = counts.const_data_ptr<float>();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& tensor = parameters[i].tensor;
    at::Tensor& gradient = tensor.mutable_grad();
    if (count[i] > 0) gradient = sums[i + 1].to(tensor.scalar_type()).view(tensor.sizes());
  }
}

void clip_gradients(const std::vector<NamedParameter>& parameters, double norm, double most) {
  if (norm > most) scale_gradients(parameters, most / norm);
}

std::optional<std::string> first_non_finite_gradient(const std::vector<NamedParameter>& parameters) {
  std::vector<at::Tensor> gradients;
  std::vector<std::string> names;
  for (const NamedParameter& parameter : parameters) {
    if (!parameter.tensor.grad().defined()) continue;
    gradients.push_back(parameter.tensor.grad());
    names.push_back(parameter.name);
  }
  const std::optional<size_t> index = first_non_finite(gradients);
  return index ? std::optional(names[*index]) : std::nullopt;
}

std::optional<size_t> first_non_finite(const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> flags;
  std::vector<size_t> indices;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].is_floating_point() && !tensors[i].is_complex()) continue;
    flags.push_back(at::isfinite(tensors[i]).all().logical_not());
    indices.push_back(i);
  }
  const std::vector<double> bad = copy_to_host(flags);
  const auto found = std::ranges::find(bad, 1.0);
  return found == bad.end() ? std::nullopt : std::optional(indices[static_cast<size_t>(found - bad.begin())]);
}

}  // namespace cachet::train
