#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cachet/report/metric_description.h"

namespace cachet::report {

/// The ends of a confidence interval for a fraction, such as the fraction of right answers.
struct ShareInterval {
  double lower = 0, upper = 1;
};

/// Returns Wilson's interval for a fraction measured on `count` > 0 samples: all fractions p that differ from the
/// measured fraction by at most the standard error of p. Both ends of Wilson's interval lie in [0, 1], and the ends are
/// never equal.
ShareInterval wilson_interval(double fraction, double count);

/// Returns the text that shows the uncertainty of a value and follows the value: " ± 0.8 %" for the standard error, or
/// the ends of Wilson's interval: " (95.2 % to 100.0 %)". If share_of > 0, the value is a fraction of `share_of`
/// samples. If the distance from a fraction to one end of Wilson's interval differs from `error` by more than a tenth
/// of `error`, the text has Wilson's interval instead of ±. If there is no error, returns an empty text. The function
/// `text` formats `error`. The function `end_text` (or `text`, if `end_text` is empty) formats an end of the interval.
std::string uncertainty_text(double value, std::optional<double> error, int64_t share_of,
                             const std::function<std::string(double)>& text,
                             const std::function<std::string(double)>& end_text = {});

/// Returns a measured value in the form that train, eval and predict write. The standard error has two significant
/// digits, and the value has as many decimals as the error: "81.23 ± 0.91 %", "27.31 ± 0.12 points". If share_of > 0,
/// the value is a fraction of `share_of` samples. If uncertainty_text() selects Wilson's interval for a fraction, the
/// interval replaces the error: "98.4 % (96.8 % to 99.1 %)".
std::string measured_text(const MetricDescription& metric, double value, std::optional<double> error,
                          int64_t share_of = 0);

/// Returns only the value, with as many decimals as measured_text() writes: "81.23 %".
std::string measured_value_text(const MetricDescription& metric, double value, std::optional<double> error);

}  // namespace cachet::report
