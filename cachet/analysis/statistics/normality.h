#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cachet::analysis {

/// The least number of values that have a test, and the number from which its kurtosis part is accurate.
inline constexpr int64_t kMinForNormality = 8, kEnoughForNormality = 20;

/// D'Agostino and Pearson's test that values are drawn from a normal distribution.
struct NormalityTest {
  bool defined = false;  // not where all values are equal
  double k2 = 0;         // z² of skewness + z² of kurtosis: χ² of two degrees of freedom
  double p = 0;          // probability of as much or more

  bool passes(double significance = 0.05) const { return defined && p > significance; }
};

/// Throws std::invalid_argument for fewer than kMinForNormality values.
NormalityTest dagostino_pearson(std::span<const double> values);

/// The percentage of normality over all channels (PNAC; arXiv 2208.01313, Eq. 15): channels whose
/// statistics over the last steps pass the test.
struct NormalChannels {
  std::vector<NormalityTest> tests;  // a channel each

  int64_t count() const;
  double fraction() const;  // of all channels; those without a test count as not normal
};

/// statistics: (steps, channels), oldest first, of which the last `last` rows are tested. Throws std::invalid_argument
/// where there are fewer, and for fewer than kMinForNormality. A channel that changes by its roundings alone has no
/// test.
NormalChannels normal_channels(const at::Tensor& statistics, int64_t last);

}  // namespace cachet::analysis
