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

/// Student's t that 2.5 % of the distribution lie above, for intervals of 95 %. `degrees` of freedom: above 0, also
/// between whole numbers.
double student_t(double degrees);

/// Mean and standard deviation (of n − 1) of so many values.
struct Sample {
  double mean = 0, deviation = 0;
  size_t count = 0;
};

/// Half of the interval that holds 95 % of the differences between the means of two samples whose expectations are
/// equal: Welch's t-test. Both have two values at least, and one deviation at least is above 0.
double welch_bound(const Sample& a, const Sample& b);

/// How b differs from a, measured in pairs that share what varies otherwise, such as a seed.
struct PairedDifference {
  size_t pairs = 0;
  double mean = 0, lower = 0, upper = 0;  // of b − a, and the interval of 95 % by Student's t
  double effect = 0;                      // mean ÷ standard deviation of the differences (Cohen's d of pairs)

  bool decided() const { return lower > 0 || upper < 0; }
};

/// Throws std::invalid_argument unless there are as many of both, two at least.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b);

/// How many pairs a t-test at 95 % needs to see an effect of this size in four of five experiments, by the noncentral t
/// distribution. The largest double if a million pairs are not enough.
double pairs_to_decide(double effect);

}  // namespace cachet::analysis
