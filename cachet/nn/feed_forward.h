#pragma once

#include <torch/nn/module.h>

#include <cstdint>

#include "cachet/nn/layout.h"
#include "cachet/nn/linear.h"

namespace cachet::nn {

struct FeedForwardOptions {
  int64_t dim = 0, hidden_dim = 0;
  double dropout = 0.0;
};

/// The feed-forward half of a transformer block: fc2(GELU(fc1(x))), dropout behind each.
class FeedForward : public torch::nn::Module {
 public:
  explicit FeedForward(const FeedForwardOptions& options);
  /// x (B, L, dim) -> (B, L, dim); layout says how the tokens lie, for those that mix neighbours.
  virtual torch::Tensor forward(const torch::Tensor& x, const TokenLayout& layout) const;

 protected:
  torch::Tensor drop(const torch::Tensor& x) const;

  std::shared_ptr<Linear> fc1_, fc2_;

 private:
  double dropout_;
};

}  // namespace cachet::nn
