#pragma once

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_kind.h"

namespace cachet::nn {

/// Layer normalisation (Ba et al., arXiv 1607.06450): (x − mean)/√(variance + ε) over the channels of each token.
struct LayerNormOptions {
  std::optional<double> eps{};  // unset: the model's default eps, which is 1e-6 in vision transformers

  static const NormKind<LayerNormOptions> kKind;
};

/// Layer normalisation; see LayerNormOptions.
class LayerNorm : public Cloneable<LayerNorm, Norm> {
 public:
  LayerNorm(int64_t channels, double eps);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  SplitNorm split() const override;

  RegisteredTensor weight, bias;  // (C)

 private:
  double eps_;
};

}  // namespace cachet::nn
