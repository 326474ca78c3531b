#pragma once

#include "cachet/nn/norm/norm.h"

namespace cachet::nn {

/// See LayerNormOptions.
class LayerNorm : public Cloneable<LayerNorm, Norm> {
 public:
  LayerNorm(int64_t channels, double eps);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  SplitNorm split() const override;

  OwnTensor weight, bias;  // (C)

 private:
  double eps_;
};

}  // namespace cachet::nn
