#pragma once

#include <torch/nn/module.h>

#include "cachet/nn/linear.h"

namespace cachet::nn {

/// The feed-forward half of a transformer block: fc2(GELU(fc1(x))), dropout behind each.
class FeedForward : public torch::nn::Module {
 public:
  FeedForward(int64_t dim, int64_t hidden_dim, double dropout);
  torch::Tensor forward(const torch::Tensor& x) const;  // (…, dim) -> (…, dim)

 private:
  double dropout_;
  std::shared_ptr<Linear> fc1_, fc2_;
};

}  // namespace cachet::nn
