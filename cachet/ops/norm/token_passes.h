#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::ops::passes {

// The passes over tokens x (…, C) that all channel-wise norms have in common. Between two passes over the tokens, a
// norm computes only with C numbers, one for each channel. Results and coefficients have the shape (C) and the
// dtype `wide`, in which sums are computed. Only the unfused form of scale_shift is differentiable.

/// Returns Σ x² over the valid tokens. Values at padding have no effect, even if they are NaN.
at::Tensor sum_of_squares(const at::Tensor& x, const std::optional<at::Tensor>& padding, at::ScalarType wide);

/// A mean over tokens (0 if there are no tokens). The tensor `none`, () bool, is true if there are no tokens. If there
/// is always at least one token, `none` is an undefined tensor.
struct TokenMean {
  at::Tensor mean, none;
};

/// Returns the mean over the valid tokens of x. `sum` (C): the sum over the valid tokens of x. With a reducer, returns
/// the mean over the tokens of all processes, from the sums and the numbers of tokens of all processes.
TokenMean mean_over_tokens(const at::Tensor& sum, const at::Tensor& x, const std::optional<at::Tensor>& padding,
                           BatchReducer* reducer);

/// Holds the state that a norm had before a step. If the step has no tokens, restore() writes the saved state back into
/// the norm. No branch of the code depends on the number of tokens.
class StateKept {
 public:
  /// `none`: as in TokenMean.
  StateKept(std::vector<at::Tensor> state, const at::Tensor& none);
  /// If the step had no tokens, restores the norm's state to the values before the step.
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

/// Returns x·scale + shift in the dtype of x.
at::Tensor scale_shift(const at::Tensor& x, const at::Tensor& scale, const std::optional<at::Tensor>& shift);

/// Returns dy·grad_scale − x·input_scale in the dtype of x.
at::Tensor scale_subtract(const at::Tensor& grad, const at::Tensor& grad_scale, const at::Tensor& x,
                          const at::Tensor& input_scale);

}  // namespace cachet::ops::passes
