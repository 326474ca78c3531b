#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::report {

/// How a number is written: as it is; a fraction in percent; with three decimals; without any; with a prefix (1.86 G);
/// a rate with three digits; a length of time in seconds as "1m05s".
enum class ValueForm { number, percent, fixed, whole, count, rate, duration };

/// The word in run.json: "percent". form_from() returns `number` for an unknown word.
std::string_view to_string(ValueForm form);
[[deprecated("to_string")]] inline std::string_view word(ValueForm form) { return to_string(form); }
ValueForm form_from(std::string_view word);

/// The word in run.json: "higher", "lower" or "neither". better_from() returns `neither` for any other word.
std::string_view to_string(Better better);
[[deprecated("to_string")]] inline std::string_view word(Better better) { return to_string(better); }
Better better_from(std::string_view word);

/// The description of a metric. Its task gives it once, and all code that shows the metric reads it here.
struct MetricDescription {
  std::string name;   // as metrics.jsonl has it: "top1"; "top1_stderr" is its standard error
  std::string title;  // for people: "top-1"
  ValueForm form = ValueForm::number;
  Better better = Better::neither;
  bool decides = false;    // whether it is what the run is to reach
  std::string unit{};      // of a number that has one: "points"
  bool constant = false;   // the same at each evaluation, something to compare with: no curve is drawn of it
  bool condition = false;  // what is measured, not how well: runs that differ in it are not ranked against each other
  bool share = false;      // of the evaluated samples, such as those that are right (report/uncertainty.h)
  bool headline = false;   // whether the line of an evaluation has it, next to the one that decides
  std::string family{};    // metrics of one family share a chart, which has this title: "box AP by size"

  bool operator==(const MetricDescription&) const = default;
};

/// Added to the name of a metric, this gives the name of its standard error.
inline constexpr std::string_view kErrorSuffix = "_stderr";

/// The description by that name; of a metric that nobody described, its name as the title.
MetricDescription description_of(const std::vector<MetricDescription>& all, std::string_view name);

/// The one that decides, or null.
const MetricDescription* deciding(const std::vector<MetricDescription>& all);

/// The best of these values that are finite; NaN if none is, or if neither way is better.
double best_of(const std::vector<double>& values, Better better);

/// "87.4 %", "0.512", "1m05s"; `digits` of numbers that have no form of their own.
std::string format_value(ValueForm form, double value, int digits = 6);

/// The same for a metric, followed by its unit: "2.310 pixels".
std::string format_value(const MetricDescription& metric, double value, int digits = 6);

/// The title with a capital letter, as headings have it: "Top-1".
std::string heading(const MetricDescription& metric);
std::string heading(std::string title);

}  // namespace cachet::report
