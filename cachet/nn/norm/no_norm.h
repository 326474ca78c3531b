#pragma once

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_kind.h"

namespace cachet::nn {

/// The options of NoNorm, the identity.
struct NoNormOptions {
  static const NormKind<NoNormOptions> kKind;
};

/// The identity as a norm, for backbones that require a norm.
class NoNorm : public Cloneable<NoNorm, Norm> {
 public:
  explicit NoNorm(int64_t channels) : Cloneable("NoNorm"), channels_(channels) {}
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& = {}) override { return x; }
  std::optional<Affine> inference_affine() const override;

 private:
  int64_t channels_;
};

}  // namespace cachet::nn
