#include "cachet/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace cachet::analysis {
namespace {

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

}  // namespace cachet::analysis
