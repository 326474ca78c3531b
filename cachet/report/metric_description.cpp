#include "cachet/report/metric_description.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "cachet/report/format.h"

namespace cachet::report {
namespace {

constexpr std::array<std::pair<std::string_view, ValueForm>, 7> kForms{{{"number", ValueForm::number},
                                                                        {"percent", ValueForm::percent},
                                                                        {"fixed", ValueForm::fixed},
                                                                        {"whole", ValueForm::whole},
                                                                        {"count", ValueForm::count},
                                                                        {"rate", ValueForm::rate},
                                                                        {"duration", ValueForm::duration}}};
constexpr std::array<std::pair<std::string_view, Better>, 3> kBetters{
    {{"neither", Better::neither}, {"higher", Better::higher}, {"lower", Better::lower}}};

template <class Words, class Value>
std::string_view word_for(const Words& words, Value value) {
  return std::ranges::find(words, value, &Words::value_type::second)->first;
}

/// The first value for a word that there is not.
template <class Words>
auto value_for(const Words& words, std::string_view word) {
  const auto found = std::ranges::find(words, word, &Words::value_type::first);
  return found == words.end() ? words.front().second : found->second;
}

}  // namespace

std::string_view to_string(ValueForm form) { return word_for(kForms, form); }
ValueForm form_from(std::string_view word) { return value_for(kForms, word); }
std::string_view to_string(Better better) { return word_for(kBetters, better); }
Better better_from(std::string_view word) { return value_for(kBetters, word); }

MetricDescription description_of(const std::vector<MetricDescription>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &MetricDescription::name);
  if (found != all.end()) return *found;
  return {std::string(name), std::string(name)};
}

double best_of(const std::vector<double>& values, Better better) {
  double best = std::numeric_limits<double>::quiet_NaN();
  if (better == Better::neither) return best;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    if (std::isnan(best) || (better == Better::higher ? value > best : value < best)) best = value;
  }
  return best;
}

const MetricDescription* deciding(const std::vector<MetricDescription>& all) {
  const auto found = std::ranges::find(all, true, &MetricDescription::decides);
  return found == all.end() ? nullptr : &*found;
}

std::string format_value(ValueForm form, double value, int digits) {
  switch (form) {
    case ValueForm::percent:
      return format_percent(value);
    case ValueForm::fixed:
      return format_fixed(value, 3);
    case ValueForm::whole:
      return format_fixed(value, 0);
    case ValueForm::count:
      return format_count(value);
    case ValueForm::rate:
      return format_number(value, std::min(digits, 3));
    case ValueForm::duration:
      return format_duration(value);
    case ValueForm::number:
      break;
  }
  return format_number(value, digits);
}

std::string format_value(const MetricDescription& metric, double value, int digits) {
  const std::string text = format_value(metric.form, value, digits);
  return metric.unit.empty() ? text : text + " " + metric.unit;
}

std::string heading(const MetricDescription& metric) { return heading(metric.title); }

std::string heading(std::string text) {
  if (text.find('_') != std::string::npos) return text;  // a name as a program has it
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace cachet::report
