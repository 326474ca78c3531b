#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cachet::analysis {

/// The minimum number of values for a test, and the minimum for which the z-score of the kurtosis is accurate.
inline constexpr int64_t kMinForNormality = 8, kEnoughForNormality = 20;

/// D'Agostino and Pearson's test that values are drawn from a normal distribution.
struct NormalityTest {
  bool defined = false;  // false if all values are equal
  double k2 = 0;         // z² of skewness + z² of kurtosis: χ² of two degrees of freedom
  double p = 0;          // probability of this k2 or a larger one

  bool passes(double significance = 0.05) const { return defined && p > significance; }
};

/// Tests the values. Throws std::invalid_argument for fewer than kMinForNormality values.
NormalityTest dagostino_pearson(std::span<const double> values);

/// The percentage of normality over all channels (PNAC; arXiv 2208.01313, Eq. 15). PNAC is the percentage of channels
/// whose statistics over the last steps pass the test for a normal distribution.
struct NormalChannels {
  std::vector<NormalityTest> tests;  // one for each channel

  int64_t count() const;
  double fraction() const;  // fraction of normal channels; a channel without a test is not normal
};

/// Tests for each channel whether the last `last` rows of `statistics` (steps, channels) are normally distributed.
/// Throws std::invalid_argument if `statistics` has fewer than `last` rows, or if `last` is below kMinForNormality. A
/// channel that changes only by rounding errors is not tested.
NormalChannels normal_channels(const at::Tensor& statistics, int64_t last);

}  // namespace cachet::analysis
