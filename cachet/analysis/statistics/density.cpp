#include "cachet/analysis/statistics/density.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace cachet::analysis {

std::vector<double> kernel_density(std::span<const double> values, std::span<const double> points, double least_width) {
  if (values.empty()) throw std::invalid_argument("kernel_density: no values");
  if (!(least_width > 0)) throw std::invalid_argument("kernel_density: the least width must be above 0");
  const auto count = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = values.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  const double width = std::max(least_width, deviation * std::pow(count, -0.2));
  std::vector<double> density;
  for (const double point : points) {
    double sum = 0;
    for (const double value : values) sum += std::exp(-0.5 * std::pow((point - value) / width, 2));
    density.push_back(sum / (count * width * std::sqrt(2 * std::numbers::pi)));
  }
  return density;
}

}  // namespace cachet::analysis
