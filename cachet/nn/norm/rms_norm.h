#pragma once

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_kind.h"

namespace cachet::nn {

/// x/√(mean of x² + ε) over each token's channels, with a weight but no bias (Zhang & Sennrich, arXiv 1910.07467).
struct RMSNormOptions {
  std::optional<double> eps{};  // unset: the model's own eps

  static const NormKind<RMSNormOptions> kKind;
};

/// Root mean square normalisation: see RMSNormOptions.
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
