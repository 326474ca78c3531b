#pragma once

#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_kind.h"
#include "cachet/nn/norm/recalibrated_means.h"
#include "cachet/ops/norm/unified_norm.h"
#include "cachet/ops/support/recalibrated.h"

namespace cachet::nn {

enum class UnifiedNormVariant { paper, official };

/// Unified normalization (arXiv 2208.01313). For the settings, see `ops::UnifiedNormSettings`.
struct UnifiedNormOptions {
  UnifiedNormVariant variant = UnifiedNormVariant::paper;
  ops::UnifiedNormSettings settings{};
  double warmup_percent = 0;  // above 0: length of the warm-up in per cent of a run; replaces settings.warmup

  static const NormKind<UnifiedNormOptions> kKind;
};

/// Moving average batch normalization (Yan et al., arXiv 2001.06838), as in the published code of unified
/// normalization. Equals unified normalization with these ops::UnifiedNormSettings: an arithmetic forward_mean,
/// official = rescale = true, backward_momentum = 0 and filter_outliers = false.
struct MovingAverageBatchNormOptions {
  int64_t window = 16;     // number of steps over which forward and backward statistics are averaged
  double momentum = 0.98;  // α of the running statistic
  double eps = 1e-5;
  int64_t warmup = 100;       // number of steps that use the batch's own statistic
  double warmup_percent = 0;  // above 0: length of the warm-up in per cent of a run; replaces `warmup`

  static const NormKind<MovingAverageBatchNormOptions> kKind;
};

/// Return the settings of the operator that a layer of unified or moving average batch normalization calls.
ops::UnifiedNormSettings unified_norm_settings(const UnifiedNormOptions& options);
ops::UnifiedNormSettings unified_norm_settings(const MovingAverageBatchNormOptions& options);

/// Unified normalization (arXiv 2208.01313). Moving average batch normalization is the same operator as unified
/// normalization, with other settings: see ops::unified_norm. In training, each forward pass updates the running
/// statistics by one step. Inference is the affine map y = x·w/√(σ²_running + ε) + b. During recalibration
/// (ops::Recalibrated), each pass is normalised with the statistic of its own batch, as in the warm-up. After
/// recalibration, σ²_running is the mean of the statistics of all batches of the recalibration. Recalibration does not
/// change the windows, the gradients' statistics or the counters.
class UnifiedNorm : public Cloneable<UnifiedNorm, Norm>, public ops::Recalibrated {
 public:
  /// `warmup_percent`: if above 0, call settle_warmup() before training.
  UnifiedNorm(int64_t channels, const ops::UnifiedNormSettings& settings, double warmup_percent = 0);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& token_mask = {}) override;
  std::optional<Affine> inference_affine() const override;
  torch::Tensor running_statistic() const override { return statistics.select(0, ops::UnifiedNormState::kRunning); }
  std::optional<NormWindow> window() const override {
    return NormWindow{settings_.forward_window, settings_.backward_window};
  }
  std::optional<NormWindowUse> window_use() const override;
  void begin_renewal() override { renewal_.emplace(); }
  void end_renewal() override;

  int64_t steps() const;           // number of training steps until now
  double steps_on_window() const;  // number of steps that normalised with the window's mean
  double steps_filtered() const;   // number of steps that the outlier filter dropped
  /// Whether each channel has its own threshold. If each channel has its own threshold, steps_on_window() and
  /// steps_filtered() are means over channels.
  bool filters_channels() const { return settings_.threshold == ops::OutlierThreshold::channel; }
  void restart_warmup() override;
  std::optional<int64_t> settle_warmup(int64_t updates) override;
  const ops::UnifiedNormSettings& settings() const { return settings_; }

  RegisteredTensor weight, bias;          // (C)
  RegisteredTensor statistics, counters;  // ops::UnifiedNormState

 private:
  void tell_statistics(const torch::Tensor& input, const torch::Tensor& used, const torch::Tensor& on_own);
  double counted(int64_t counter) const;
  torch::Tensor renewing_forward(const torch::Tensor& x, const torch::Tensor& token_mask);

  ops::UnifiedNormSettings settings_;
  double warmup_percent_;                // 0: settings_.warmup is the length of the warm-up
  std::optional<RenewedMeans> renewal_;  // set only during a renewal
};

}  // namespace cachet::nn
