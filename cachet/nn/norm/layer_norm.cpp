#include "cachet/nn/norm/layer_norm.h"

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

namespace cachet::nn {

LayerNorm::LayerNorm(int64_t channels, double eps) : Norm("LayerNorm"), eps_(eps) {
  weight = register_parameter("weight", at::ones({channels}));
  bias = register_parameter("bias", at::zeros({channels}));
}

torch::Tensor LayerNorm::forward(const torch::Tensor& x, const torch::Tensor&) {
  return at::layer_norm(x, {weight.size(0)}, weight, bias, eps_);
}

}  // namespace cachet::nn
