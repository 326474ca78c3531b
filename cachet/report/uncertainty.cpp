#include "cachet/report/uncertainty.h"

#include <algorithm>
#include <cmath>

#include "cachet/report/format.h"

namespace cachet::report {

ShareInterval wilson_interval(double fraction, double count) {
  const double center = (fraction + 0.5 / count) / (1 + 1 / count);
  const double half = std::sqrt(fraction * (1 - fraction) / count + 0.25 / (count * count)) / (1 + 1 / count);
  // Exact where the sum is rounded.
  return {fraction <= 0 ? 0 : std::max(0.0, center - half), fraction >= 1 ? 1 : std::min(1.0, center + half)};
}

namespace {

/// The largest difference between ± and an interval for which ± stands, as a fraction of the error.
constexpr double kSymmetric = 0.1;

/// Wilson's interval, if the value is a fraction of `share_of` > 0 samples and ± does not describe the interval.
std::optional<ShareInterval> asymmetric_interval(double value, double error, int64_t share_of) {
  if (share_of < 1 || !(value >= 0 && value <= 1)) return std::nullopt;
  const ShareInterval interval = wilson_interval(value, static_cast<double>(share_of));
  const auto is_far = [&](double half) { return std::abs(half - error) > kSymmetric * error; };
  if (!is_far(value - interval.lower) && !is_far(interval.upper - value)) return std::nullopt;
  return interval;
}

}  // namespace

std::string uncertainty_text(double value, std::optional<double> error, int64_t share_of,
                             const std::function<std::string(double)>& text,
                             const std::function<std::string(double)>& end_text) {
  if (!error) return "";
  const std::optional<ShareInterval> interval = asymmetric_interval(value, *error, share_of);
  if (!interval) return " ± " + text(*error);
  const auto& end = end_text ? end_text : text;
  return " (" + end(interval->lower) + " to " + end(interval->upper) + ")";
}

namespace {

/// The decimals of two significant digits of an error.
int decimals_of(double error) {
  const double size = std::abs(error);
  int exponent = static_cast<int>(std::floor(std::log10(size)));
  if (size >= 9.95 * std::pow(10, exponent)) ++exponent;  // 0.0996 is written as 0.10
  constexpr int kMost = 12;
  return std::clamp(1 - exponent, 0, kMost);
}

bool has_decimals(ValueForm form) { return form != ValueForm::count && form != ValueForm::duration; }

/// The decimals that the error gives its value; none without an error above 0.
std::optional<int> decimals_by(const MetricDescription& metric, double value, std::optional<double> error) {
  if (!error || !std::isfinite(*error) || *error <= 0 || !std::isfinite(value) || !has_decimals(metric.form))
    return std::nullopt;
  return decimals_of(metric.form == ValueForm::percent ? 100 * *error : *error);
}

}  // namespace

std::string measured_value_text(const MetricDescription& metric, double value, std::optional<double> error) {
  const std::optional<int> decimals = decimals_by(metric, value, error);
  if (!decimals) return format_value(metric, value);
  if (metric.form == ValueForm::percent) return format_percent(value, *decimals);
  return format_fixed(value, *decimals) + (metric.unit.empty() ? "" : " " + metric.unit);
}

std::string measured_text(const MetricDescription& metric, double value, std::optional<double> error,
                          int64_t share_of) {
  if (!error || !std::isfinite(value)) return format_value(metric, value);
  const auto text = [&](double number) { return measured_value_text(metric, number, error); };
  if (const std::optional<ShareInterval> interval = asymmetric_interval(value, *error, share_of)) {
    const double half = (interval->upper - interval->lower) / 2;  // the error of a value of 1 is 0
    const auto end = [&](double number) { return measured_value_text(metric, number, half); };
    return end(value) + " (" + end(interval->lower) + " to " + end(interval->upper) + ")";
  }
  if (!decimals_by(metric, value, error)) return format_value(metric, value) + " ± " + format_value(metric, *error);
  const std::string unit = metric.form == ValueForm::percent ? " %" : metric.unit.empty() ? "" : " " + metric.unit;
  const auto bare = [&](double number) {
    const std::string whole = text(number);
    return whole.substr(0, whole.size() - unit.size());
  };
  return bare(value) + " ± " + bare(*error) + unit;
}

}  // namespace cachet::report
