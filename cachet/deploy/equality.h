#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cachet::deploy {

/// How far the answers of a rewritten model may lie from the original's.
struct Tolerance {
  double log_probability = 1e-3;  // of a class, in nats
  double changed = 1;             // fraction of the samples whose best class may change; one sample always may
};

/// If the probability of a class, divided by that of the sample's most likely class, is below this, the class does not
/// count: nobody reads such probabilities, and few of their digits are right in bf16.
inline constexpr double kMinLikely = 1e-3;
[[deprecated("kMinLikely")]] inline constexpr double kLeastLikely = kMinLikely;

/// What a row of scores decides, and how many rows are called.
struct DecisionWords {
  const char* decision = "the best class";
  const char* many = "samples";
};

/// How two models' answers to the same samples compare. A constant that is added to all scores of a sample changes
/// nothing, and one score far below the others hides nothing.
struct Equality {
  int64_t samples = 0;
  double difference = 0;    // the largest one of a class's log-probabilities, in nats
  double mean = 0;          // over the samples, of the largest one of each
  int64_t clear = 0;        // samples whose best class leads by more than twice the tolerance, in nats
  int64_t clear_other = 0;  // of these, those whose best class is another one now
  int64_t other = 0;        // of all samples

  double changed() const { return static_cast<double>(other) / static_cast<double>(samples); }
  /// The bounds of the tolerance that the answers do not keep, each as a clause: "a log-probability may differ by
  /// 0.001".
  std::vector<std::string> broken_bounds(const Tolerance& tolerance, const DecisionWords& words = {}) const;
  bool holds(const Tolerance& tolerance) const { return broken_bounds(tolerance).empty(); }
};

/// expected, actual (N, classes): scores whose softmax gives probabilities, or log-probabilities. Throws c10::Error
/// unless their shapes are the same, and ops::NotFinite for scores that are not finite.
Equality equality_of(const at::Tensor& expected, const at::Tensor& actual, const Tolerance& tolerance);

/// "largest difference of a log-probability 3.1e-07; the best class is the same for 256 of 256 samples".
std::string to_text(const Equality& equality, const DecisionWords& words = {});

}  // namespace cachet::deploy
