#include "cachet/tasks/run_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "cachet/report/format.h"
#include "cachet/tasks/run_curves.h"

namespace cachet::tasks {
namespace {

using report::Better;
using train::Event;
using OverSeeds = RunValue::OverSeeds;

struct KnownMetric {
  std::string_view logged, name;
  ValueForm form;
  Better better;
};
constexpr std::array<KnownMetric, 3> kKnownMetrics{{{"top1", "top-1", ValueForm::percent, Better::higher},
                                                    {"top5", "top-5", ValueForm::percent, Better::higher},
                                                    {"loss", "loss", ValueForm::fixed, Better::lower}}};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::string written(ValueForm form, double value, int digits) {
  switch (form) {
    case ValueForm::percent:
      return report::format_percent(value);
    case ValueForm::fixed:
      return report::format_fixed(value, 3);
    case ValueForm::whole:
      return report::format_fixed(value, 0);
    case ValueForm::count:
      return report::format_count(value);
    case ValueForm::rate:
      return report::format_number(value, std::min(digits, 3));
    case ValueForm::duration:
      return report::format_duration(value);
    default:
      return report::format_number(value, digits);
  }
}

/// Of what evaluations measured, what is known in the order above, then the rest.
std::vector<std::string> evaluated_metrics(const std::vector<Event>& events) {
  std::vector<std::string> names = metric_names(events, Event::Kind::evaluation);
  std::ranges::stable_sort(names, {}, [](const std::string& name) {
    return std::ranges::find(kKnownMetrics, name, &KnownMetric::logged) - kKnownMetrics.begin();
  });
  return names;
}

/// The last of each, their errors behind ±.
std::vector<RunValue> last_evaluation(const std::vector<Event>& events) {
  std::vector<RunValue> values;
  for (const std::string& name : evaluated_metrics(events)) {
    const StepCurve curve = step_curve(events, Event::Kind::evaluation, name);
    values.push_back(metric_value(name, curve.values.back()));
    const StepCurve error = step_curve(events, Event::Kind::evaluation, name + kErrorSuffix);
    if (!error.values.empty()) values.back().spread = error.values.back();
  }
  return values;
}

/// What a run was to reach is not logged: it is the first accuracy of its evaluation, or else the first loss.
void add_best(const std::vector<Event>& events, std::vector<RunValue>& values) {
  for (const Better better : {Better::higher, Better::lower}) {
    for (const std::string& name : evaluated_metrics(events)) {
      const std::vector<double> curve = step_curve(events, Event::Kind::evaluation, name).values;
      RunValue best = metric_value(name, 0);
      if (best.better != better) continue;
      best.value = better == Better::higher ? *std::ranges::max_element(curve) : *std::ranges::min_element(curve);
      best.over_seeds = OverSeeds::best;
      const auto last = std::ranges::find(values, best.name, &RunValue::name);
      last->decides = true;
      best.name = "best " + best.name;
      values.insert(last + 1, std::move(best));
      return;
    }
  }
}

/// How well a run fits what it learns from: the accuracies of its last step line.
void add_training_accuracies(const std::vector<Event>& events, std::vector<RunValue>& values) {
  for (const std::string& name : metric_names(events, Event::Kind::step)) {
    RunValue last = metric_value(name, step_curve(events, Event::Kind::step, name).values.back());
    if (last.better != Better::higher) continue;
    last.name = "training " + last.name;
    last.better = Better::neither;
    values.push_back(std::move(last));
  }
}

void add_speed(const std::vector<Event>& events, std::vector<RunValue>& values) {
  // Sequences differ in length: of those that log them, tokens tell.
  const StepCurve tokens = step_curve(events, Event::Kind::step, "tokens_per_second");
  const StepCurve images = step_curve(events, Event::Kind::step, "samples_per_second");
  const StepCurve& rates = tokens.values.empty() ? images : tokens;
  if (rates.values.empty()) return;
  values.push_back({tokens.values.empty() ? "training images/s" : "training tokens/s", median(rates.values),
                    ValueForm::rate, Better::higher});
  values.push_back({"training time", rates.seconds.back(), ValueForm::duration, Better::lower});
}

void add_unified_norm(const std::vector<Event>& events, std::vector<RunValue>& values) {
  const UnifiedNormUse use = unified_norm_use(events);
  if (use.layers == 0) return;
  RunValue on_window{"UN steps on window", use.on_window, ValueForm::whole};
  RunValue filtered{"UN filtered", use.filtered, ValueForm::whole};
  on_window.suffix = " of " + report::format_number(use.steps, 6);
  filtered.suffix = " in " + std::to_string(use.layers) + " layers";
  values.push_back(std::move(on_window));
  values.push_back(std::move(filtered));
}

RunValue over_seeds_of(const std::vector<const RunValue*>& values) {
  RunValue all = *values.front();
  if (all.over_seeds == OverSeeds::best) {
    for (const RunValue* one : values)
      all.value = all.better == Better::higher ? std::max(all.value, one->value) : std::min(all.value, one->value);
    return all;
  }
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const RunValue* one : values) sum += one->value;
  all.value = sum / count;
  for (const RunValue* one : values) squares += std::pow(one->value - all.value, 2);
  all.spread = values.size() > 1 ? std::sqrt(squares / (count - 1)) : std::numeric_limits<double>::quiet_NaN();
  return all;
}

}  // namespace

RunValue metric_value(const std::string& logged, double value) {
  const auto known = std::ranges::find(kKnownMetrics, logged, &KnownMetric::logged);
  if (known == kKnownMetrics.end()) return {logged, value};
  return {std::string(known->name), value, known->form, known->better};
}

std::vector<RunValue> run_values(const RunRecord& run) {
  std::vector<RunValue> values = last_evaluation(run.events);
  add_best(run.events, values);
  add_training_accuracies(run.events, values);
  const auto count = [&](const std::string& name, int64_t value) {
    values.push_back({name, static_cast<double>(value), ValueForm::count});
  };
  count("parameters", run.model.parameters);
  count("MACs", run.model.macs.linear_convolution);
  count("attention MACs", run.model.macs.attention);
  add_speed(run.events, values);
  add_unified_norm(run.events, values);
  return values;
}

std::vector<RunValue> over_seeds(const std::vector<std::vector<RunValue>>& runs) {
  std::vector<RunValue> all;
  for (const auto& run : runs) {
    for (const RunValue& value : run) {
      if (std::ranges::find(all, value.name, &RunValue::name) != all.end()) continue;
      std::vector<const RunValue*> same;
      for (const auto& other : runs)
        for (const RunValue& candidate : other)
          if (candidate.name == value.name) same.push_back(&candidate);
      all.push_back(over_seeds_of(same));
    }
  }
  return all;
}

std::vector<RunValue> group_values(const RunGroup& group) {
  if (!group.has_seeds()) return run_values(group.runs.front());
  std::vector<std::vector<RunValue>> runs;
  for (const RunRecord* run : group.counted()) runs.push_back(run_values(*run));
  return over_seeds(runs);
}

report::Metric shown(const RunValue& value) {
  std::string text = written(value.form, value.value, 6);
  if (std::isfinite(value.spread) && value.form != ValueForm::count)
    text += " ± " + written(value.form, value.spread, 2);
  text += value.suffix;
  return {value.name, {text, value.value}, value.better};
}

}  // namespace cachet::tasks
