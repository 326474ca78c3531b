#pragma once

#include <span>
#include <vector>

namespace cachet::analysis {

/// Median and the quartiles around it.
struct Quartiles {
  double lower = 0, median = 0, upper = 0;
};

/// Quartiles by linear interpolation between the sorted values. Throws std::invalid_argument for no values.
Quartiles quartiles(std::span<const double> values);

/// A/B timings: the ratios a[i] / b[i] of pairs that were measured one right after the other, so that what slows both
/// (a busy machine) cancels. Throws std::invalid_argument unless there are as many of both, at least one.
Quartiles ratio_of_pairs(std::span<const double> a, std::span<const double> b);

}  // namespace cachet::analysis
