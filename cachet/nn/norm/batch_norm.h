#pragma once

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_kind.h"
#include "cachet/nn/norm/recalibrated_means.h"
#include "cachet/ops/support/recalibrated.h"

namespace cachet::nn {

/// Batch normalisation (arXiv 1502.03167): training uses batch statistics of each channel, inference running averages.
struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;  // weight of the new batch in the running averages

  static const NormKind<BatchNormOptions> kKind;
};

/// Batch normalisation over tokens. Training uses mean and variance of each channel over all valid tokens of the batch;
/// inference uses running averages. Training throws c10::Error if a batch has fewer than two tokens (padding included).
/// If fewer than two tokens are valid, the running averages do not change (this check runs on the device).
/// Recalibration averages the batches' means and unbiased variances, like torch.optim.swa_utils.update_bn.
class BatchNorm : public Cloneable<BatchNorm, Norm>, public ops::Recalibrated {
 public:
  BatchNorm(int64_t channels, const BatchNormOptions& options);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  std::optional<Affine> inference_affine() const override;
  torch::Tensor running_statistic() const override { return running_var; }
  void begin_renewal() override { renewal_.emplace(); }
  void end_renewal() override;

  RegisteredTensor weight, bias, running_mean, running_var;  // (C)
  RegisteredTensor num_batches_tracked;                      // () int64

 private:
  struct Running {
    torch::Tensor mean, variance, batches;
  };
  /// `momentum`: the weight of the batch in the running averages.
  torch::Tensor training_forward(const torch::Tensor& x, const torch::Tensor& padding, const Running& running,
                                 double momentum);

  BatchNormOptions options_;
  std::optional<RenewedMeans> renewal_;  // set only during a renewal
};

}  // namespace cachet::nn
