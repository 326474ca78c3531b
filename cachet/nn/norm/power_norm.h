#pragma once

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::nn {

/// Power normalization (arXiv 2003.07845), with group scaling or without (PN*): see ops::power_norm. In training each
/// forward pass is one step of its state. Without group scaling inference is an affine map.
class PowerNorm : public Cloneable<PowerNorm, Norm> {
 public:
  PowerNorm(int64_t channels, const PowerNormOptions& options);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  std::optional<Affine> inference_affine() const override;
  SplitNorm split() const override;

  OwnTensor weight, bias;          // (C)
  OwnTensor statistics, counters;  // ops::PowerNormState

 private:
  Affine running_affine() const;
  void tell_gradient_statistic(const torch::Tensor& input, const torch::Tensor& used, const torch::Tensor& own);

  PowerNormOptions options_;
};

}  // namespace cachet::nn
