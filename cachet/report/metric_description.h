#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::report {

/// The format of a number: unchanged (`number`), in percent (`percent`), with three decimals (`fixed`), without
/// decimals (`whole`), with a prefix as in 1.86 G (`count`), with three digits (`rate`), or as in "1m05s" (`duration`).
enum class ValueForm { number, percent, fixed, whole, count, rate, duration };

/// Returns the word that run.json has for `form`, such as "percent". For an unknown word, form_from() returns `number`.
std::string_view to_string(ValueForm form);
[[deprecated("to_string")]] inline std::string_view word(ValueForm form) { return to_string(form); }
ValueForm form_from(std::string_view word);

/// Returns "higher", "lower" or "neither", as in run.json. better_from() returns `neither` for an unknown word.
std::string_view to_string(Better better);
[[deprecated("to_string")]] inline std::string_view word(Better better) { return to_string(better); }
Better better_from(std::string_view word);

/// The description of a metric. The task defines the description once, and all code that shows the metric uses the
/// description.
struct MetricDescription {
  std::string name;   // name in metrics.jsonl: "top1"; its standard error has the name "top1_stderr"
  std::string title;  // name for people: "top-1"
  ValueForm form = ValueForm::number;
  Better better = Better::neither;
  bool decides = false;    // whether it decides which evaluation of a run is the best
  std::string unit{};      // unit of the number, if it has one: "points"
  bool constant = false;   // whether it is equal at each evaluation (for comparison); it then has no curve
  bool condition = false;  // whether it is a measurement condition; runs that differ in it are not ranked together
  bool share = false;      // whether it is a fraction of the evaluated samples, such as top-1 (report/uncertainty.h)
  bool headline = false;   // whether the line of an evaluation shows it, next to the deciding metric
  std::string family{};    // title of a chart that all metrics of this family have in common: "box AP by size"

  bool operator==(const MetricDescription&) const = default;
};

/// The suffix that turns the name of a metric into the name of its standard error.
inline constexpr std::string_view kErrorSuffix = "_stderr";

/// Returns the description of the metric `name`. For an unknown metric, returns a description whose title is the name.
MetricDescription description_of(const std::vector<MetricDescription>& all, std::string_view name);

/// Returns the metric that decides which evaluation is the best, or null if there is none.
const MetricDescription* deciding(const std::vector<MetricDescription>& all);

/// Returns the best finite value, or NaN if no value is finite or if `better` is `neither`.
double best_of(const std::vector<double>& values, Better better);

/// Returns a number in the given form: "87.4 %", "0.512", "1m05s". In the form `number`, the text has `digits`
/// significant digits.
std::string format_value(ValueForm form, double value, int digits = 6);

/// Formats a value of a metric with the metric's form and unit: "2.310 pixels".
std::string format_value(const MetricDescription& metric, double value, int digits = 6);

/// Returns the title with a capital first letter, for headings: "Top-1".
std::string heading(const MetricDescription& metric);
std::string heading(std::string title);

}  // namespace cachet::report
