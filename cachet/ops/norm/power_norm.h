#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::ops {

/// The settings of power normalization (Shen et al., arXiv 2003.07845).
struct PowerNormSettings {
  double forward_momentum = 0.9;   // α of the running statistic ψ²
  double backward_momentum = 0.9;  // α of the gradient's statistic Γ
  double eps = 1e-5;
  int64_t warmup = 10'000;  // number of steps that use the batch's own statistic
};

/// The state of one layer: statistics (2, C) in float32 or wider, rows ψ² and Γ; counters (1) int64: number of steps.
struct PowerNormState {
  at::Tensor statistics, counters;

  static constexpr int64_t kRunning = 0, kGradientMean = 1;  // rows
};

/// Returns the state before the first step: ψ² is 1, and all other values are 0.
PowerNormState initial_power_norm_state(int64_t channels, const at::TensorOptions& options = {});

struct PowerNormOutput {
  at::Tensor output;          // y, in the shape and dtype of input
  at::Tensor used_statistic;  // s (C), the statistic that normalised the step
  at::Tensor statistic;       // mean of x² over the step (C)
};

/// Power normalization in training. The norm subtracts no mean from the input x:
///   z = x / √(s + ε),  s = ψ² (after the warm-up) or the batch's own mean of x²,  y = w·z + b,
///   a = w·∂L/∂y − (1 − α)·Γ·z,  Γ' = Γ + mean(a·z),  ∂L/∂x = a / √(mean x² + ε).
/// In the warm-up, ψ² is a cumulative mean. After the warm-up, the moving average continues from the cumulative mean,
/// as in the published code.
///
/// input (…, C); weight, bias (C) or none; padding (…) bool, true = padding, which both statistics ignore. Returns y in
/// the dtype of input; arithmetic is in the dtype of the statistics. The forward pass writes ψ² and the counter; the
/// backward pass writes Γ. No branch of the code depends on a tensor's value. The result is not differentiable twice.
/// In inference, the norm is the affine map scale_shift with the weight w/√(ψ² + ε) and the bias b. With a
/// BatchReducer, the statistics include the whole batch, but the gradients of weight and bias include only this
/// process's part of the batch. Throws c10::Error if shapes or dtypes do not agree.
PowerNormOutput power_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                           const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& padding,
                           const PowerNormState& state, const PowerNormSettings& settings,
                           const std::shared_ptr<BatchReducer>& reducer = nullptr);

}  // namespace cachet::ops
