#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cachet::deploy {

/// Limits for the differences between the outputs of a rewritten model and of the original model.
struct Tolerance {
  double log_probability = 1e-3;  // largest difference for a class, in nats
  double changed = 1;             // maximum fraction of samples with a changed best class; one is always allowed
};

/// The minimum ratio of a class's probability to the probability of the sample's best class. Smaller ratios count as
/// this minimum: such unlikely classes do not affect the best class, and bf16 computes their ratios inexactly.
inline constexpr double kMinLikely = 1e-3;
[[deprecated("kMinLikely")]] inline constexpr double kLeastLikely = kMinLikely;

/// Nouns for messages: `decision` is the noun for the result of one row of scores, and `many` is the noun for rows.
struct DecisionWords {
  const char* decision = "the best class";
  const char* many = "samples";
};

/// A comparison of two models' scores for the same samples. The comparison does not change if a constant is added to
/// all scores of a sample. Smaller probabilities count as kMinLikely times the best class's probability.
struct Equality {
  int64_t samples = 0;
  double difference = 0;    // the largest difference of a class's log-probabilities, in nats
  double mean = 0;          // mean over samples of the largest difference of a sample
  int64_t clear = 0;        // number of samples whose best class leads by more than twice the tolerance, in nats
  int64_t clear_other = 0;  // number of these samples whose best class changed
  int64_t other = 0;        // number of all samples whose best class changed

  double changed() const { return static_cast<double>(other) / static_cast<double>(samples); }
  /// Returns the limits that the answers exceed, each as a clause: "a log-probability may differ by at most 0.001".
  std::vector<std::string> broken_bounds(const Tolerance& tolerance, const DecisionWords& words = {}) const;
  bool holds(const Tolerance& tolerance) const { return broken_bounds(tolerance).empty(); }
};

/// Compares `expected` and `actual`, both (N, classes): log-probabilities, or scores whose softmax gives probabilities.
/// Throws c10::Error unless `expected` and `actual` have the same shape. Throws ops::NotFinite if a score is not
/// finite.
Equality equality_of(const at::Tensor& expected, const at::Tensor& actual, const Tolerance& tolerance);

/// Returns "largest difference of a log-probability 3.1e-07; the best class is the same for 256 of 256 samples".
std::string to_text(const Equality& equality, const DecisionWords& words = {});

}  // namespace cachet::deploy
