#include "cachet/analysis/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace cachet::analysis {
namespace {

constexpr double kTwoSided = 1.959964;  // standard deviations beyond which 2.5 % of a normal distribution lie

double at_fraction(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - std::floor(place));
}

}  // namespace

Quartiles quartiles(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("quartiles: there are no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return {at_fraction(sorted, 0.25), at_fraction(sorted, 0.5), at_fraction(sorted, 0.75)};
}

Quartiles ratio_of_pairs(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw std::invalid_argument("ratio_of_pairs: the two sides differ in number");
  std::vector<double> ratios(a.size());
  std::ranges::transform(a, b, ratios.begin(), [](double x, double y) { return x / y; });
  return quartiles(ratios);
}

double student_t(double degrees) {
  static constexpr std::array<double, 10> kSmall{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  const auto whole = static_cast<size_t>(std::max(1.0, std::floor(degrees)));
  if (whole <= kSmall.size()) return kSmall[whole - 1];
  constexpr double z = kTwoSided;
  return z + (z * z * z + z) / (4 * degrees) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * degrees * degrees);
}

PairedDifference paired_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 2)
    throw std::invalid_argument("paired_difference: needs as many of both, two at least");
  const auto n = static_cast<double>(a.size());
  double mean = 0, squares = 0;
  for (size_t i = 0; i < a.size(); ++i) mean += (b[i] - a[i]) / n;
  for (size_t i = 0; i < a.size(); ++i) squares += (b[i] - a[i] - mean) * (b[i] - a[i] - mean);
  const double deviation = std::sqrt(squares / (n - 1)), half = student_t(n - 1) * deviation / std::sqrt(n);
  const double infinite = std::copysign(std::numeric_limits<double>::infinity(), mean);
  const double effect = deviation > 0 ? mean / deviation : mean == 0 ? 0 : infinite;
  return {a.size(), mean, mean - half, mean + half, effect};
}

double pairs_to_decide(double effect) {
  constexpr double power = 0.841621;  // four of five lie below
  const double pairs = std::pow((kTwoSided + power) / effect, 2) + kTwoSided * kTwoSided / 2;
  return std::isfinite(pairs) ? std::ceil(pairs) : std::numeric_limits<double>::max();
}

}  // namespace cachet::analysis
