#pragma once

#include <ATen/core/Tensor.h>

#include <stdexcept>

namespace cachet::ops {

/// A number that a model computed, or is made of, is NaN or infinite. what() names it.
class NotFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether all numbers of a floating-point tensor of any shape are finite. It costs one pass and waits for the device.
bool all_finite(const at::Tensor& values);

/// Throws NotFinite unless all of a model's scores are finite: logits, losses, offsets of boxes. Code that
/// receives scores of a model to make an answer of them asks this first: no number is greater than NaN, so NaN would
/// become an answer.
void require_finite_scores(const at::Tensor& scores);

/// The same of log-probabilities (rows, choices), where −∞ marks an impossible choice: the largest of each row is
/// finite, and none is NaN.
void require_log_probabilities(const at::Tensor& scores);

}  // namespace cachet::ops
