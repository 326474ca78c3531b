#pragma once

#include <cstddef>
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

/// Student's t that 2.5 % of the distribution lie above: for intervals of 95 %. Between whole numbers of degrees of
/// freedom the wider of two neighbours, up to ten; beyond to four digits.
double student_t(double degrees);

/// How b differs from a, measured in pairs that share what varies otherwise, such as a seed.
struct PairedDifference {
  size_t pairs = 0;
  double mean = 0, lower = 0, upper = 0;  // of b − a, and the interval of 95 % by Student's t
  double effect = 0;                      // mean ÷ standard deviation of the differences (Cohen's d of pairs)

  bool decided() const { return lower > 0 || upper < 0; }
};

/// Throws std::invalid_argument unless there are as many of both, two at least.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b);

/// Pairs with which an effect of this size is seen at 95 % in four of five experiments (Guenther, The American
/// Statistician 35, 1981). The most that there can be where there is none.
double pairs_to_decide(double effect);

}  // namespace cachet::analysis
