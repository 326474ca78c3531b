#pragma once

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::nn {

/// Batch normalisation over tokens: mean and variance of each channel over all valid tokens of the batch in training,
/// running averages at inference. Training throws c10::Error when the batch has fewer than two tokens,
/// padding counted: with fewer valid ones, which no value is looked at for, the running averages stay as they are.
class BatchNorm : public Cloneable<BatchNorm, Norm> {
 public:
  BatchNorm(int64_t channels, const BatchNormOptions& options);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  std::optional<Affine> inference_affine() const override;

  OwnTensor weight, bias, running_mean, running_var;  // (C)
  OwnTensor num_batches_tracked;                      // () int64

 private:
  torch::Tensor training_forward(const torch::Tensor& x, const torch::Tensor& padding);

  BatchNormOptions options_;
};

}  // namespace cachet::nn
