#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cachet::analysis {

/// The median, and the quartiles below and above it.
struct Quartiles {
  double lower = 0, median = 0, upper = 0;
};

/// Computes quartiles by linear interpolation between the sorted values. If there are no values, throws
/// std::invalid_argument.
Quartiles quartiles(std::span<const double> values);

/// Returns the quartiles of the ratios a[i] / b[i] of two lists of timings. a[i] and b[i] should be measured in direct
/// succession, so that a slowdown of both (a busy machine) cancels. If the two lists are empty or have different
/// lengths, throws std::invalid_argument.
Quartiles ratio_of_pairs(std::span<const double> a, std::span<const double> b);

/// Returns the value of Student's t above which 2.5 % of the distribution lie, for intervals of 95 %. `degrees`:
/// degrees of freedom, above 0, possibly fractional.
double student_t(double degrees);

/// The mean of `count` values, and their standard deviation (with the divisor n − 1).
struct Sample {
  double mean = 0, deviation = 0;
  size_t count = 0;
};

/// Returns the 95 % limit of the absolute difference of two samples' means (Welch's t-test). If both samples have equal
/// expectations, the difference of their means is below this limit in 95 % of experiments. Both samples must have at
/// least two values, and at least one deviation must be above 0.
double welch_bound(const Sample& a, const Sample& b);

/// The differences b − a of paired values, such as the results of two methods with the same seed.
struct PairedDifference {
  size_t pairs = 0;
  double mean = 0, lower = 0, upper = 0;  // mean of b − a, and its 95 % interval by Student's t
  double effect = 0;                      // mean ÷ standard deviation of the differences (Cohen's d of pairs)

  bool decided() const { return lower > 0 || upper < 0; }
};

/// Compares pairs of values. Throws std::invalid_argument unless a and b have the same number of values, at least two.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b);

/// Returns the number of pairs with which a t-test at 95 % finds an effect of the size `effect` in four of five
/// experiments, by the noncentral t distribution. If the t-test needs more than a million pairs, returns the largest
/// double.
double pairs_to_decide(double effect);

}  // namespace cachet::analysis
