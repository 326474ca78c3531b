#pragma once

#include <torch/nn/module.h>

namespace cachet::nn {

/// y = x·Wᵀ + b on (…, inputs), one fused product also for three dimensions (torch::nn::Linear makes two of it).
/// W starts truncated-normal (0.02), b zero.
class Linear : public torch::nn::Module {
 public:
  Linear(int64_t inputs, int64_t outputs, bool with_bias = true);
  torch::Tensor forward(const torch::Tensor& x) const;

  torch::Tensor weight, bias;  // (outputs, inputs); (outputs) or undefined
};

}  // namespace cachet::nn
