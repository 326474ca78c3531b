#pragma once

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_kind.h"
#include "cachet/nn/norm/recalibrated_means.h"
#include "cachet/ops/norm/power_norm.h"
#include "cachet/ops/support/recalibrated.h"

namespace cachet::nn {

/// Power normalization (Shen et al., arXiv 2003.07845). Without group scaling, power normalization is the variant PN*
/// of arXiv 2208.01313.
struct PowerNormOptions {
  ops::PowerNormSettings settings{};
  bool group_scaling = true;  // first divides x by √(mean of x² over a token's channels + ε); inference does so too
  double warmup_percent = 0;  // above 0: length of the warm-up in per cent of a run; replaces settings.warmup

  static const NormKind<PowerNormOptions> kKind;
};

/// Power normalization (arXiv 2003.07845), with group scaling or without it (PN*): see ops::power_norm. In training,
/// each forward pass updates the running statistics by one step. Without group scaling, inference is an affine map.
/// During recalibration (ops::Recalibrated), each pass is normalised with the statistic of its own batch, as in the
/// warm-up. After recalibration, ψ² is the mean of the statistics of all batches of the recalibration. Recalibration
/// changes neither Γ nor the counter.
class PowerNorm : public Cloneable<PowerNorm, Norm>, public ops::Recalibrated {
 public:
  PowerNorm(int64_t channels, const PowerNormOptions& options);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  std::optional<Affine> inference_affine() const override;
  SplitNorm split() const override;
  torch::Tensor running_statistic() const override { return statistics.select(0, ops::PowerNormState::kRunning); }
  void begin_renewal() override { renewal_.emplace(); }
  void end_renewal() override;
  std::optional<int64_t> settle_warmup(int64_t updates) override;

  RegisteredTensor weight, bias;          // (C)
  RegisteredTensor statistics, counters;  // ops::PowerNormState

 private:
  Affine running_affine() const;
  void tell_gradient_statistic(const torch::Tensor& input, const torch::Tensor& used, const torch::Tensor& own);

  torch::Tensor renewing_forward(const torch::Tensor& scaled, const torch::Tensor& token_mask);

  PowerNormOptions options_;
  std::optional<RenewedMeans> renewal_;  // set only during a renewal
};

}  // namespace cachet::nn
