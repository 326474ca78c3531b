#pragma once

#include "cachet/nn/norm/norm.h"

namespace cachet::nn {

/// An affine map for evaluation, which replaces an offline norm that cannot be folded into a neighbouring layer.
/// Parameters: weight, bias (C).
class ScaleShiftNorm : public Cloneable<ScaleShiftNorm, Norm> {
 public:
  explicit ScaleShiftNorm(const Affine& affine);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  std::optional<Affine> inference_affine() const override;

  RegisteredTensor weight, bias;
};

}  // namespace cachet::nn
