#pragma once

#include <ATen/core/Tensor.h>

#include <stdexcept>

namespace cachet::ops {

/// The error for a NaN or infinite number in a model or in its results. The error's what() names the number.
class NotFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether all numbers of a floating-point tensor of any shape are finite. all_finite() makes one pass over the tensor,
/// and waits for the device.
bool all_finite(const at::Tensor& values);

/// Throws NotFinite unless all scores of a model are finite (logits, losses, offsets of boxes).
/// Code that chooses an answer by a model's scores must call this function first: comparisons with NaN are false, so
/// that a NaN could become the answer.
void require_finite_scores(const at::Tensor& scores);

/// Throws NotFinite unless the largest log-probability of each row (rows, choices) is finite and no value is
/// NaN. −∞ marks an impossible choice.
void require_log_probabilities(const at::Tensor& scores);

}  // namespace cachet::ops
