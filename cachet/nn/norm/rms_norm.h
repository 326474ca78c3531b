#pragma once

#include "cachet/nn/norm/norm.h"

namespace cachet::nn {

/// See RMSNormOptions.
class RMSNorm : public Cloneable<RMSNorm, Norm> {
 public:
  RMSNorm(int64_t channels, double eps);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  SplitNorm split() const override;

  OwnTensor weight;  // (C)

 private:
  double eps_;
};

}  // namespace cachet::nn
