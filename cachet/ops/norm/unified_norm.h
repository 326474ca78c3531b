#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::ops {

/// The kind of mean over a window of statistics. With WindowMean::none, each step uses its own statistic.
enum class WindowMean : int64_t { geometric, arithmetic, none };

/// The threshold of the outlier filter (Eq. 18–19). The filter compares the threshold with E(Ω_t) − Π(Ω_t) of each
/// channel, the arithmetic minus the geometric mean of the window Ω_t.
enum class OutlierThreshold {
  pooled,  // M·V(√Ω_{t−1}), V over all channels and steps, unbiased: one channel above it filters the whole layer, as
           // in the published code. The pooled threshold is not an upper bound of a channel's E(Ω_t) − Π(Ω_t).
  channel,  // M·V(√Ω_{t−1}) with V of the channel, the population variance: filters only this channel, as in the
            // printed Eq. 19
};

/// The settings of unified normalization (arXiv 2208.01313): counts, averages and filters.
struct UnifiedNormSettings {
  int64_t forward_window = 4;      // M: number of steps in the geometric mean of the statistic
  int64_t backward_window = 4;     // number of steps in the arithmetic mean of the gradient's statistic
  double forward_momentum = 0.9;   // α of the running statistic
  double backward_momentum = 0.9;  // α of ψ; 0 uses the window's mean without smoothing
  double eps = 1e-5;
  int64_t warmup = 4000;        // number of steps that use the batch's own statistic
  bool filter_outliers = true;  // whether steps whose window is too uneven use no averages
  OutlierThreshold threshold = OutlierThreshold::pooled;
  WindowMean forward_mean = WindowMean::geometric;
  bool official = false;  // whether to use the counters of the published code, and its factor r in the backward pass
  bool rescale = false;  // whether the forward pass also has r: y = w·r·z + b, as in moving average batch normalization
};

/// The state of one layer: the tensors `statistics` and `counters`.
///   statistics (2 + M + M_b, C), float32 or wider. Rows: running σ², ψ, a ring of M statistics, a ring of M_b
///              gradient statistics.
///   counters   (4) int64: steps, filtered steps, steps on window statistics, whether the last step was filtered.
///              With OutlierThreshold::channel, the last three counters count channels instead of steps: a step that
///              filters 5 channels adds 5 to the number of filtered steps.
struct UnifiedNormState {
  at::Tensor statistics, counters;

  static constexpr int64_t kRunning = 0, kGradientMean = 1, kForwardRing = 2;            // rows
  static constexpr int64_t kSteps = 0, kFiltered = 1, kOnWindow = 2, kLastFiltered = 3;  // counters
};

/// Returns the state before the first step: running σ² is 1, and all other values are 0.
UnifiedNormState initial_unified_norm_state(int64_t channels, const UnifiedNormSettings& settings,
                                            const at::TensorOptions& options = {});

struct UnifiedNormOutput {
  at::Tensor output;     // y, in the shape and dtype of input
  at::Tensor statistic;  // σ̂² (C), the statistic that normalised the step
  at::Tensor on_own;     // bool, () or (C): whether the values of the step replaced all averages
};

/// Unified normalization in training. The norm subtracts no mean from the input:
///   σ²_t = mean of x² over the valid tokens,
///   σ̂² = exp(mean of log over the last M σ²),  z = x / √(σ̂² + ε),  y = w·z + b.
/// The backward pass, with g = w·∂L/∂y and ψ the smoothed mean of g·z:  ∂L/∂x = (g − ψ·z) / √(σ̂² + ε)
/// (Eq. 16–17; outlier filter: Eq. 18–19). In a filtered step, forward and backward use the statistics of this step
/// alone, not averages, in all channels or in the filtered channels (OutlierThreshold). OutlierThreshold::channel
/// filters no step before M steps have filled the window.
///
/// input (…, C); weight, bias (C) or none; padding (…) bool, true = padding, which the statistic ignores. In the
/// paper's form, the gradient's statistic ignores padding; in the published code, it includes padding. Returns y in the
/// dtype of input; arithmetic is in the dtype of the statistics. The forward pass writes running σ², the ring buffer of
/// σ² and the counters. The backward pass writes ψ and, at the ring index of its forward pass, the gradient statistic;
/// several forward passes may therefore precede a backward pass. No branch of the code depends on a tensor's value. The
/// result is not differentiable twice. Inference is the affine map scale_shift with w/√(σ²_running + ε) and b, without
/// statistics of the input. With a BatchReducer, the statistics include the whole batch, but the gradients of weight
/// and bias include only this process's part of the batch. Throws c10::Error if shapes or dtypes do not agree.
UnifiedNormOutput unified_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                               const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& padding,
                               const UnifiedNormState& state, const UnifiedNormSettings& settings,
                               const std::shared_ptr<BatchReducer>& reducer = nullptr);

}  // namespace cachet::ops
