#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cachet/report/metric_description.h"

namespace cachet::report {

/// The ends of an interval for a fraction, such as the fraction of right answers.
struct ShareInterval {
  double lower = 0, upper = 1;
};

/// Wilson's interval for a fraction that was measured on `count` > 0 samples: the fractions that differ from the
/// measured one by one of their own standard errors at most. Its ends are never outside [0, 1], and never equal.
ShareInterval wilson_interval(double fraction, double count);

/// How sure a value is, to stand after the value: " ± 0.8 %" is its standard error. If the value is a fraction of
/// `share_of` > 0 samples, and Wilson's interval is not what ± shows in these digits, the ends of the interval:
/// " (95.2 % to 100.0 %)". Empty if there is no error. `text` writes an error; `end_text` writes an end of the
/// interval, as `text` does if it is empty.
std::string uncertainty_text(double value, std::optional<double> error, int64_t share_of,
                             const std::function<std::string(double)>& text,
                             const std::function<std::string(double)>& end_text = {});

/// How train, eval and predict write a measured value. An error has two significant digits, and the value as many
/// decimals as its error: "81.23 ± 0.91 %", "27.31 ± 0.12 points". If it is a fraction of `share_of` > 0 samples,
/// and an end of Wilson's interval is further from it or nearer to it than the error by more than a tenth of the error,
/// the ends stand in place of ±: "98.4 % (96.8 % to 99.1 %)". Without an error, the value as format_value() writes it.
std::string measured_text(const MetricDescription& metric, double value, std::optional<double> error,
                          int64_t share_of = 0);

/// The value alone, with the decimals that measured_text() gives it: "81.23 %".
std::string measured_value_text(const MetricDescription& metric, double value, std::optional<double> error);

}  // namespace cachet::report
