#include "cachet/nn/norm/rms_norm.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/rms_norm.h>

namespace cachet::nn {

RMSNorm::RMSNorm(int64_t channels, double eps) : Norm("RMSNorm"), eps_(eps) {
  weight = register_parameter("weight", at::ones({channels}));
}

torch::Tensor RMSNorm::forward(const torch::Tensor& x, const torch::Tensor&) {
  return at::rms_norm(x, {weight.size(0)}, weight.to(x.scalar_type()), eps_);
}

}  // namespace cachet::nn
