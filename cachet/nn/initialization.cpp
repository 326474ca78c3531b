#include "cachet/nn/initialization.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace cachet::nn {

at::Tensor& truncated_normal_(at::Tensor& tensor, double standard_deviation) {
  at::NoGradGuard no_grad;
  // Uniform between the values of the distribution function at the cuts, then through its inverse.
  const double edge = std::erf(2.0 / standard_deviation / std::sqrt(2.0));
  tensor.uniform_(-edge, edge).erfinv_().mul_(standard_deviation * std::sqrt(2.0)).clamp_(-2.0, 2.0);
  return tensor;
}

}  // namespace cachet::nn
