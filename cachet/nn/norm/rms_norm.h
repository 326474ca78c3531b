#pragma once

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_kind.h"

namespace cachet::nn {

/// Root mean square normalisation (Zhang & Sennrich, arXiv 1910.07467): x/√(mean of x² + ε) over a token's channels.
struct RMSNormOptions {
  std::optional<double> eps{};  // unset: the model's default eps

  static const NormKind<RMSNormOptions> kKind;
};

/// Root mean square normalisation with a weight, but without a bias; see RMSNormOptions.
class RMSNorm : public Cloneable<RMSNorm, Norm> {
 public:
  RMSNorm(int64_t channels, double eps);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  SplitNorm split() const override;

  RegisteredTensor weight;  // (C)

 private:
  double eps_;
};

}  // namespace cachet::nn
