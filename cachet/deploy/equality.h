#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace cachet::deploy {

/// How far the scores of a rewritten model may lie from the original's, as a share of the largest score.
struct Tolerance {
  double scores = 1e-4;  // of float32
};

/// How two models' scores of the same samples compare.
struct Equality {
  int64_t samples = 0;
  double difference = 0;    // the largest, as a share of the largest score of the original
  int64_t clear = 0;        // samples whose best class leads by more than twice the tolerance
  int64_t clear_other = 0;  // of these, those whose best class is another one now
  int64_t other = 0;        // of all samples

  bool holds(const Tolerance& tolerance) const { return difference <= tolerance.scores && clear_other == 0; }
};

/// expected, actual (N, classes). Throws c10::Error unless their shapes are the same, and for scores that are not
/// finite.
Equality equality_of(const at::Tensor& expected, const at::Tensor& actual, const Tolerance& tolerance);

/// "largest difference 3.1e-07 of the largest score; the best class is the same for 64 of 64 samples".
std::string to_text(const Equality& equality);

}  // namespace cachet::deploy
