#pragma once

#include <ATen/core/Tensor.h>

#include <stdexcept>

namespace cachet::ops {

/// The error if a number in a model or in its results is NaN or infinite. what() names the number.
class NotFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether all numbers of a floating-point tensor of any shape are finite. Needs one pass and waits for the device.
bool all_finite(const at::Tensor& values);

/// Throws NotFinite unless all of a model's scores are finite: logits, losses, offsets of boxes.
/// Code that makes an answer from a model's scores calls this first. No number is greater than NaN, so
/// NaN would become an answer.
void require_finite_scores(const at::Tensor& scores);

/// Throws NotFinite unless log-probabilities (rows, choices) have a finite largest value in each row and no
/// NaN. −∞ marks an impossible choice.
void require_log_probabilities(const at::Tensor& scores);

}  // namespace cachet::ops
