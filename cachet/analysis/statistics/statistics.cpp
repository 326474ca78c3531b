#include "cachet/analysis/statistics/statistics.h"

#include <algorithm>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace cachet::analysis {
namespace {

double at_fraction(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - std::floor(place));
}

/// How often a t-test of so many pairs sees an effect of this size at 95 %.
double power_of_pairs(double effect, double pairs) {
  const double bound = student_t(pairs - 1);
  const boost::math::non_central_t differences(pairs - 1, std::abs(effect) * std::sqrt(pairs));
  return boost::math::cdf(boost::math::complement(differences, bound)) + boost::math::cdf(differences, -bound);
}

}  // namespace

Quartiles quartiles(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("quartiles: there are no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return {at_fraction(sorted, 0.25), at_fraction(sorted, 0.5), at_fraction(sorted, 0.75)};
}

Quartiles ratio_of_pairs(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size())
    throw std::invalid_argument("ratio_of_pairs: both lists must have the same number of values");
  std::vector<double> ratios(a.size());
  std::ranges::transform(a, b, ratios.begin(), [](double x, double y) { return x / y; });
  return quartiles(ratios);
}

double student_t(double degrees) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), 0.025));
}

double welch_bound(const Sample& a, const Sample& b) {
  const auto n = static_cast<double>(a.count), m = static_cast<double>(b.count);
  const double x = a.deviation * a.deviation / n, y = b.deviation * b.deviation / m;
  return student_t((x + y) * (x + y) / (x * x / (n - 1) + y * y / (m - 1))) * std::sqrt(x + y);
}

PairedDifference paired_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 2)
    throw std::invalid_argument("paired_difference: both lists must have the same number of values, at least two");
  const auto n = static_cast<double>(a.size());
  double mean = 0, squares = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    mean += (b[i] - a[i]) / n;
    largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
  }
  for (size_t i = 0; i < a.size(); ++i) squares += (b[i] - a[i] - mean) * (b[i] - a[i] - mean);
  const double deviation = std::sqrt(squares / (n - 1)), half = student_t(n - 1) * deviation / std::sqrt(n);
  const double infinite = std::copysign(std::numeric_limits<double>::infinity(), mean);
  // Differences that are equal but for rounding have no deviation.
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * largest;
  const double effect = deviation > rounding ? mean / deviation : std::abs(mean) <= rounding ? 0 : infinite;
  return {a.size(), mean, mean - half, mean + half, effect};
}

double pairs_to_decide(double effect) {
  constexpr double kPower = 0.8, kMaxPairs = 1e6, kSeenByTwo = 20;
  if (std::abs(effect) >= kSeenByTwo) return 2;
  // Too few pairs, and enough.
  double few = 1, enough = 2;
  while (!(power_of_pairs(effect, enough) >= kPower)) {
    few = enough;
    enough *= 2;
    if (enough > kMaxPairs) return std::numeric_limits<double>::max();
  }
  while (enough - few > 1) {
    const double middle = std::floor((few + enough) / 2);
    (power_of_pairs(effect, middle) >= kPower ? enough : few) = middle;
  }
  return enough;
}

}  // namespace cachet::analysis
