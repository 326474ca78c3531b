#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>

namespace cachet::metrics {

/// Draws samples with replacement. A resample has as many draws as there are samples: some samples occur several
/// times and others do not occur. The variation of a score over resamples estimates its variation over test sets
/// (Efron 1979). The draws depend only on the number of samples.
class Resampler {
 public:
  /// `samples`: number of samples, from 0 to 2³² − 1.
  explicit Resampler(size_t samples) : samples_(samples) {}

  /// Returns the index of the next drawn sample.
  size_t next() { return static_cast<size_t>(uint64_t{random_()} * samples_ >> 32); }

 private:
  uint64_t samples_;
  std::mt19937 random_;  // the default seed, so that all machines have the same numbers
};

/// Returns the standard deviation of the scores of resamples. It is the standard error of the score of the original
/// samples. Empty if there are fewer than two scores.
std::optional<double> deviation(std::span<const double> scores);

}  // namespace cachet::metrics
