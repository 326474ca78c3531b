#include "cachet/report/uncertainty.h"

#include <algorithm>
#include <cmath>

namespace cachet::report {

ShareInterval wilson_interval(double fraction, double count) {
  const double center = (fraction + 0.5 / count) / (1 + 1 / count);
  const double half = std::sqrt(fraction * (1 - fraction) / count + 0.25 / (count * count)) / (1 + 1 / count);
  // Exact where the sum is rounded.
  return {fraction <= 0 ? 0 : std::max(0.0, center - half), fraction >= 1 ? 1 : std::min(1.0, center + half)};
}

std::string uncertainty_text(double value, std::optional<double> error, int64_t share_of,
                             const std::function<std::string(double)>& text,
                             const std::function<std::string(double)>& end_text) {
  if (!error) return "";
  std::string symmetric = " ± " + text(*error);
  if (share_of < 1 || !(value >= 0 && value <= 1)) return symmetric;
  const ShareInterval interval = wilson_interval(value, static_cast<double>(share_of));
  if (text(value - interval.lower) == text(*error) && text(interval.upper - value) == text(*error)) return symmetric;
  const auto& end = end_text ? end_text : text;
  return " (" + end(interval.lower) + " to " + end(interval.upper) + ")";
}

}  // namespace cachet::report
