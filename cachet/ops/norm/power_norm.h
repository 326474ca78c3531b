#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::ops {

/// How power normalization averages (Shen et al., arXiv 2003.07845).
struct PowerNormSettings {
  double forward_momentum = 0.9;   // α of the running statistic ψ²
  double backward_momentum = 0.9;  // α of the gradient's statistic Γ
  double eps = 1e-5;
  int64_t warmup = 10'000;  // steps on the batch's own statistic
};

/// The state of one layer: statistics (2, C), float32 or wider, rows ψ² and Γ; counters (1) int64, steps.
struct PowerNormState {
  at::Tensor statistics, counters;

  static constexpr int64_t kRunning = 0, kGradientMean = 1;  // rows
};

/// The state before the first step: ψ² = 1, everything else 0.
PowerNormState initial_power_norm_state(int64_t channels, const at::TensorOptions& options = {});

struct PowerNormOutput {
  at::Tensor output;          // y, as input
  at::Tensor used_statistic;  // s (C), what the step was normalised with
  at::Tensor statistic;       // mean x² (C) of the step
};

/// Training form of power normalization, without a mean:
///   z = x / √(s + ε),  s = ψ² (after the warm-up) or the batch's own mean of x²,  y = w·z + b
///   a = w·∂L/∂y − (1 − α)·Γ·z,  Γ' = Γ + mean(a·z),  ∂L/∂x = a / √(mean x² + ε)
/// ψ² is a cumulative mean in the warm-up that the moving average then runs over, as the published code has it.
///
/// input (…, C); weight, bias (C) or none; padding (…) bool, true = padding: both statistics ignore it. Returns y in
/// the dtype of input; arithmetic is in the dtype of the statistics. The forward pass writes ψ² and the counter, the
/// backward pass Γ. Nothing branches on a tensor's value. Not differentiable twice.
/// Inference is scale_shift with w/√(ψ² + ε) and b.
/// With a reducer, both statistics are those of the whole batch; gradients of weight and bias stay this process's part.
/// Throws c10::Error when shapes or dtypes do not agree.
PowerNormOutput power_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                           const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& padding,
                           const PowerNormState& state, const PowerNormSettings& settings,
                           const std::shared_ptr<BatchReducer>& reducer = nullptr);

}  // namespace cachet::ops
