#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::ops {

/// What a window of statistics is reduced to; none: each step uses its own.
enum class WindowMean : int64_t { geometric, arithmetic, none };

/// What the outlier filter compares E(Ω_t) − Π(Ω_t) of each channel with (Eq. 18–19).
enum class OutlierThreshold {
  pooled,  // M·V(√Ω_{t−1}), V over all channels and steps, unbiased: one channel above it filters the whole layer,
           // as in the published code. This is not a bound of E − Π.
  channel,  // the same with the channel's own V, the population variance: filters that channel alone, as Eq. 19 is
            // printed
};

/// How unified normalization counts, averages and filters (Unified Normalization, arXiv 2208.01313).
struct UnifiedNormSettings {
  int64_t forward_window = 4;      // M: steps in the geometric mean of the statistic
  int64_t backward_window = 4;     // steps in the arithmetic mean of the gradient's statistic
  double forward_momentum = 0.9;   // α of the running statistic
  double backward_momentum = 0.9;  // α of ψ; 0 takes the window's mean as it is
  double eps = 1e-5;
  int64_t warmup = 4000;        // steps on the batch's own statistic
  bool filter_outliers = true;  // drop all averages for a step whose window is too uneven
  OutlierThreshold threshold = OutlierThreshold::pooled;
  WindowMean forward_mean = WindowMean::geometric;
  bool official = false;  // the published code's counting and its factor r in the backward pass
  bool rescale = false;   // r in the forward pass too, y = w·r·z + b, as moving average batch normalization has it
};

/// The state of one layer, in two tensors.
///   statistics (2 + M + M_b, C), float32 or wider, rows: running σ², ψ, the ring of M statistics, the ring of M_b
///              gradient statistics
///   counters   (4) int64: steps, filtered steps, steps on window statistics, whether the last step was filtered. If
///   the
///              threshold is each channel's own, the last three count channels: one step that filters 5 channels adds 5
struct UnifiedNormState {
  at::Tensor statistics, counters;

  static constexpr int64_t kRunning = 0, kGradientMean = 1, kForwardRing = 2;            // rows
  static constexpr int64_t kSteps = 0, kFiltered = 1, kOnWindow = 2, kLastFiltered = 3;  // counters
};

/// The state before the first step: running σ² = 1, everything else 0.
UnifiedNormState initial_unified_norm_state(int64_t channels, const UnifiedNormSettings& settings,
                                            const at::TensorOptions& options = {});

struct UnifiedNormOutput {
  at::Tensor output;     // y, as input
  at::Tensor statistic;  // σ̂² (C), what the step was normalised with
  at::Tensor on_own;     // bool, () or of each channel (C): whether the step's own values replaced all averages
};

/// Training form of unified normalization, without a mean:  σ²_t = mean of x² over the valid tokens,
///   σ̂² = exp(mean of log over the last M σ²),  z = x / √(σ̂² + ε),  y = w·z + b
/// and backward, with g = w·∂L/∂y and ψ the smoothed mean of g·z:  ∂L/∂x = (g − ψ·z) / √(σ̂² + ε)
/// (Eq. 16–17; the outlier filter Eq. 18–19). On a filtered step both averages give way to the step's own values, in
/// all channels or in those that are filtered (OutlierThreshold). A channel is judged by its own threshold if the
/// window was full of earlier steps before this one.
///
/// input (…, C); weight, bias (C) or none; padding (…) bool, true = padding: the statistic ignores it, and in the
/// paper's form so does the gradient's statistic (the published code includes it). Returns y in the dtype of input;
/// arithmetic is in the dtype of the statistics. The forward pass replaces the forward half of the state, the backward
/// pass the rest, in the slot that belongs to its forward: several forward passes may precede a backward.
/// Nothing branches on a tensor's value. Not differentiable twice.
/// Inference is an affine map without statistics of the input: scale_shift with w/√(σ²_running + ε) and b.
/// With a reducer, both statistics are those of the whole batch; gradients of weight and bias stay this process's part.
/// Throws c10::Error when shapes or dtypes do not agree.
UnifiedNormOutput unified_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                               const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& padding,
                               const UnifiedNormState& state, const UnifiedNormSettings& settings,
                               const std::shared_ptr<BatchReducer>& reducer = nullptr);

}  // namespace cachet::ops
