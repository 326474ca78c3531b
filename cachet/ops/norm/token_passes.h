#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::ops::passes {

// The passes over tokens x (…, C) that every channel-wise norm makes; what a norm does between them is on C numbers.
// Results and coefficients are (C) in the dtype that sums are taken in, `wide`. Not differentiable,
// but for scale_shift where it is not fused.

/// Σ x² over the valid tokens. What stands at padding never enters, not even NaN.
at::Tensor sum_of_squares(const at::Tensor& x, const std::optional<at::Tensor>& padding, at::ScalarType wide);

/// A mean over tokens, 0 over none; and whether there are none, () bool, undefined where that cannot be.
struct TokenMean {
  at::Tensor mean, none;
};

/// The mean over the valid tokens of x of what `sum` (C) is the sum of; with a reducer that of the tokens of all
/// processes, whose sums and numbers of tokens are added up first.
TokenMean mean_over_tokens(const at::Tensor& sum, const at::Tensor& x, const std::optional<at::Tensor>& padding,
                           BatchReducer* reducer);

/// A norm's state, which stays as it is where a step has no tokens: nothing branches on that.
class StateKept {
 public:
  /// `none` as TokenMean has it.
  StateKept(std::vector<at::Tensor> state, const at::Tensor& none);
  /// After the step: restores the state if there was no token.
  void restore();

 private:
  std::vector<at::Tensor> state_, before_;
  at::Tensor none_;
};

struct GradientSums {
  at::Tensor grad_input, grad;  // Σ dy·x, Σ dy
};
GradientSums gradient_sums(const at::Tensor& grad, const at::Tensor& x, const std::optional<at::Tensor>& padding,
                           at::ScalarType wide);

/// x·scale + shift in the dtype of x.
at::Tensor scale_shift(const at::Tensor& x, const at::Tensor& scale, const std::optional<at::Tensor>& shift);

/// dy·grad_scale − x·input_scale in the dtype of x.
at::Tensor scale_subtract(const at::Tensor& grad, const at::Tensor& grad_scale, const at::Tensor& x,
                          const at::Tensor& input_scale);

}  // namespace cachet::ops::passes
