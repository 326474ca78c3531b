#include "cachet/nn/initialization.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace cachet::nn {
namespace {

thread_local bool weights_are_left = false;

}  // namespace

at::Tensor& truncated_normal_(at::Tensor& tensor, double standard_deviation) {
  if (weights_are_left) return tensor;
  at::NoGradGuard no_grad;
  // Uniform between the values of the distribution function at the cuts, then through its inverse.
  const double edge = std::erf(2.0 / standard_deviation / std::sqrt(2.0));
  tensor.uniform_(-edge, edge).erfinv_().mul_(standard_deviation * std::sqrt(2.0)).clamp_(-2.0, 2.0);
  return tensor;
}

WithoutInitialization::WithoutInitialization() : before_(weights_are_left) { weights_are_left = true; }
WithoutInitialization::~WithoutInitialization() { weights_are_left = before_; }

}  // namespace cachet::nn
