#pragma once

#include <cstdint>

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_kind.h"

namespace cachet::nn {

/// Group normalisation (Wu & He, arXiv 1803.08494): (x − mean)/√(variance + ε) over the tokens of a sample and the
/// channels of a group, without padding.
struct GroupNormOptions {
  int64_t groups = 32;  // number of groups of neighbouring channels, all of the same size
  double eps = 1e-5;

  static const NormKind<GroupNormOptions> kKind;
};

/// Group normalisation with one group for each channel (Ulyanov et al., arXiv 1607.08022).
struct InstanceNormOptions {
  double eps = 1e-5;

  static const NormKind<InstanceNormOptions> kKind;
};

/// Group normalisation (GroupNormOptions). The first dimension of x is the samples; the dimensions between the samples
/// and the channels are the tokens. Statistics are float32 or wider. In evaluation as in training, a group norm
/// computes the statistics from x.
class GroupNorm : public Cloneable<GroupNorm, Norm> {
 public:
  /// Throws c10::Error unless `groups` divides `channels`.
  GroupNorm(int64_t channels, int64_t groups, double eps);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  SplitNorm split() const override;

  RegisteredTensor weight, bias;  // (C)

 private:
  int64_t groups_;
  double eps_;
};

}  // namespace cachet::nn
