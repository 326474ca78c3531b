#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>

namespace cachet::metrics {

/// Draws samples with replacement. A resample has as many draws as there are samples: some samples occur several times
/// and others do not occur. The variation of a score over resamples estimates its variation over test sets (Efron
/// 1979). The seed is fixed, so that the drawn indices depend only on the number of samples.
class Resampler {
 public:
  /// `samples`: number of samples, from 0 to 2³² − 1.
  explicit Resampler(size_t samples) : samples_(samples) {}

  /// Draws a sample at random and returns its index.
  size_t next() { return static_cast<size_t>(uint64_t{random_()} * samples_ >> 32); }

 private:
  uint64_t samples_;
  std::mt19937 random_;  // the default seed, so that all machines have the same numbers
};

/// Returns the standard deviation of the scores of resamples, which is the standard error of the score of the original
/// samples. If there are fewer than two scores, returns std::nullopt.
std::optional<double> deviation(std::span<const double> scores);

}  // namespace cachet::metrics
