#include "cachet/metrics/bootstrap.h"

#include <cmath>

namespace cachet::metrics {

std::optional<double> deviation(std::span<const double> scores) {
  if (scores.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(scores.size());
  // From the first of them on, so that equal scores deviate by nothing and not by the rounding of their mean.
  const double first = scores.front();
  double sum = 0;
  for (const double score : scores) sum += score - first;
  const double mean = sum / count;
  double squares = 0;
  for (const double score : scores) squares += (score - first - mean) * (score - first - mean);
  return std::sqrt(squares / (count - 1));
}

}  // namespace cachet::metrics
