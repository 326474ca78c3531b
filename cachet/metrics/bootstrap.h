#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>

namespace cachet::metrics {

/// Draws samples again, with replacement: of as many draws as there are samples some come several times, others not at
/// all. How much a score moves from one such corpus to the next is how much it would move from one test set to the next
/// (Efron 1979). What is drawn is a function of the number of samples alone.
class Resampler {
 public:
  /// Of 0 … 2³² − 1 samples.
  explicit Resampler(size_t samples) : samples_(samples) {}

  /// The number of a sample.
  size_t next() { return static_cast<size_t>(uint64_t{random_()} * samples_ >> 32); }

 private:
  uint64_t samples_;
  std::mt19937 random_;  // with the seed that it comes with: the same numbers on every machine
};

/// The standard deviation of the scores of resamples, which is the standard error of the score of the samples
/// themselves. Nothing of fewer than two.
std::optional<double> deviation(std::span<const double> scores);

}  // namespace cachet::metrics
