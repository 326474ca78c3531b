#include "cachet/report/charts/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cachet/report/format.h"

namespace cachet::report {
namespace {

// A range is drawn in pixels: a point outside by this fraction of the range still counts as inside.
constexpr double kSlack = 1e-9;
constexpr double kMinRange = 1e-12;        // of the greatest value
constexpr double kSmallestRange = 1e-300;  // smaller steps would be denormal or zero

// Decimals that a step needs: 0.25 needs two. A step has at most two significant digits.
int decimals_of(double step) {
  int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - kSlack)), 0, 12);
  const double scaled = step * std::pow(10, decimals);
  return std::abs(scaled - std::round(scaled)) > 0.01 * scaled ? decimals + 1 : decimals;
}

// One unit for all labels of an axis, as there is little room: 0, 5k, 10k. Extreme numbers take an exponent.
std::string tick_label(double value, double step, double greatest) {
  if (value == 0) return "0";
  if (greatest >= 1e15 || greatest < 1e-3) return format_number(value, 6);
  if (greatest < 1e4) return format_fixed(value, decimals_of(step));
  const double unit = greatest >= 1e12 ? 1e12 : greatest >= 1e9 ? 1e9 : greatest >= 1e6 ? 1e6 : 1e3;
  const char* letter = unit == 1e12 ? "T" : unit == 1e9 ? "G" : unit == 1e6 ? "M" : "k";
  return format_fixed(value / unit, decimals_of(step / unit)) + letter;
}

double nice_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough * (1 - kSlack)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Ticks linear_ticks(double least, double most, int count, bool whole) {
  Ticks ticks;
  if (!std::isfinite(most - least) || !(least < most) || count < 1) return ticks;
  const double range = most - least, greatest = std::max(std::abs(least), std::abs(most));
  // Labels could not distinguish such values, and multiples of the step would not be exact integers.
  if (range < kMinRange * greatest || range < kSmallestRange) return ticks;
  double step = nice_step(range / count);
  const auto first = [&] { return std::ceil((least - kSlack * range) / step); };
  const auto last = [&] { return std::floor((most + kSlack * range) / step); };
  while (last() - first() + 1 > count || (whole && step != std::floor(step))) step = nice_step(step * 1.01);
  for (double k = first(); k <= last(); ++k) {
    ticks.positions.push_back(std::clamp(k * step, least, most));
    ticks.labels.push_back(tick_label(k * step, step, greatest));
  }
  return ticks;
}

Ticks logarithmic_ticks(double least, double most, int count) {
  Ticks ticks;
  if (!(least > 0) || !std::isfinite(most) || !(least < most) || count < 1) return ticks;
  const int low = static_cast<int>(std::floor(std::log10(least))), high = static_cast<int>(std::ceil(std::log10(most)));
  const auto inside = [&](double value) { return value >= least * (1 - kSlack) && value <= most * (1 + kSlack); };
  static constexpr std::array<std::array<int, 3>, 3> finest_first = {{{1, 2, 5}, {1, 3, 0}, {1, 0, 0}}};
  for (const auto& factors : finest_first) {
    ticks = {};
    for (int exponent = low; exponent <= high; ++exponent) {
      for (int factor : factors) {
        const double value = factor * std::pow(10, exponent);
        if (factor == 0 || !inside(value)) continue;
        ticks.positions.push_back(value);
        ticks.labels.push_back(format_number(value, 2));
      }
    }
    if (static_cast<int>(ticks.positions.size()) <= count) break;
  }
  const int stride = (static_cast<int>(ticks.positions.size()) + count - 1) / count;
  if (stride > 1) {
    Ticks thinned;
    for (size_t i = 0; i < ticks.positions.size(); i += stride) {
      thinned.positions.push_back(ticks.positions[i]);
      thinned.labels.push_back(ticks.labels[i]);
    }
    return thinned;
  }
  // Less than a factor of two or so: the linear ticks are the better landmarks.
  return ticks.positions.size() >= 2 ? ticks : linear_ticks(least, most, count);
}

}  // namespace cachet::report
