#include "cachet/tasks/runs/run_values.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "cachet/analysis/statistics/statistics.h"
#include "cachet/report/format.h"
#include "cachet/report/uncertainty.h"
#include "cachet/tasks/plug_in_series.h"
#include "cachet/train/runs/event_curves.h"

namespace cachet::tasks {
namespace {

using report::Better;
using report::ValueForm;
using train::Event;
using OverSeeds = RunValue::OverSeeds;

/// What evaluations measured: what is described in its order, then the rest.
std::vector<report::MetricDescription> evaluated_metrics(const RunRecord& run) {
  const std::vector<report::MetricDescription>& described = run.description.metrics;
  std::vector<std::string> names = train::metric_names(run.events, Event::Kind::evaluation);
  std::ranges::stable_sort(names, {}, [&](const std::string& name) {
    return std::ranges::find(described, name, &report::MetricDescription::name) - described.begin();
  });
  std::vector<report::MetricDescription> metrics;
  for (const std::string& name : names) metrics.push_back(report::description_of(described, name));
  return metrics;
}

/// The last of each, their errors after ±; after what the run was to reach, its best.
void add_evaluation(const RunRecord& run, std::vector<RunValue>& values) {
  const train::Metrics last = train::last_evaluation(run.events);
  for (const report::MetricDescription& metric : evaluated_metrics(run)) {
    const std::vector<double> curve = train::step_curve(run.events, Event::Kind::evaluation, metric.name).values;
    values.push_back(metric_value(metric, curve.back()));
    const std::vector<double> errors =
        train::step_curve(run.events, Event::Kind::evaluation, metric.name + std::string(report::kErrorSuffix)).values;
    if (!errors.empty()) values.back().spread = errors.back();
    if (!errors.empty()) values.back().samples = run.description.samples_of(metric, last);
    if (!metric.decides || metric.better == Better::neither) continue;
    RunValue best = metric_value(metric, report::best_of(curve, metric.better));
    best.name = "best " + best.name;
    best.decides = false;
    best.over_seeds = OverSeeds::best;
    values.push_back(std::move(best));
  }
}

/// How well a run fits what it learns from: what is better when it is higher, on the last step line.
void add_training_metrics(const RunRecord& run, std::vector<RunValue>& values) {
  for (const std::string& name : train::metric_names(run.events, Event::Kind::step)) {
    RunValue last = metric_value(report::description_of(run.description.metrics, name),
                                 train::step_curve(run.events, Event::Kind::step, name).values.back());
    if (last.better != Better::higher) continue;
    last.name = "training " + last.name;
    last.heading = last.name + " (last step line)";
    last.better = Better::neither;
    last.decides = false;
    values.push_back(std::move(last));
  }
}

void add_speed(const RunRecord& run, std::vector<RunValue>& values) {
  // Sequences differ in length: if tokens are logged, they are counted.
  const train::StepCurve tokens = train::step_curve(run.events, Event::Kind::step, "tokens_per_second");
  const train::StepCurve samples = train::step_curve(run.events, Event::Kind::step, "samples_per_second");
  const train::StepCurve& rates = tokens.values.empty() ? samples : tokens;
  if (rates.values.empty()) return;
  values.push_back({"training " + (tokens.values.empty() ? run.description.words.many : "tokens") + "/s",
                    analysis::quartiles(rates.values).median, ValueForm::rate, Better::higher});
  values.push_back({"training time", train::training_seconds(run.events), ValueForm::duration, Better::lower});
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
  all.samples = 0;
  if (all.over_seeds == OverSeeds::best) {
    std::vector<double> numbers;
    for (const RunValue* one : values) numbers.push_back(one->value);
    all.value = report::best_of(numbers, all.better);
    return all;
  }
  // Equal values have no deviation, whatever their sum rounds to.
  if (std::ranges::all_of(values, [&](const RunValue* one) { return one->value == all.value; })) {
    all.spread = values.size() > 1 ? 0 : std::numeric_limits<double>::quiet_NaN();
    return all;
  }
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const RunValue* one : values) sum += one->value;
  all.value = sum / count;
  for (const RunValue* one : values) squares += std::pow(one->value - all.value, 2);
  all.spread = std::sqrt(squares / (count - 1));
  return all;
}

}  // namespace

RunValue metric_value(const report::MetricDescription& metric, double value) {
  RunValue shown{metric.title, value, metric.form, metric.better};
  shown.decides = metric.decides;
  shown.condition = metric.condition;
  if (!metric.unit.empty()) shown.suffix = " " + metric.unit;
  return shown;
}

std::vector<RunValue> run_values(const RunRecord& run) {
  std::vector<RunValue> values;
  add_evaluation(run, values);
  add_training_metrics(run, values);
  const auto count = [&](const std::string& name, int64_t value) {
    values.push_back({name, static_cast<double>(value), ValueForm::count});
  };
  const auto macs = [&](const std::string& name, int64_t value) {
    count(name, value);
    values.back().heading = name + " (evaluation)";
  };
  count("parameters", run.description.parameters);
  if (run.description.has_macs()) {
    macs("MACs", run.description.linear_convolution_macs);
    macs("attention MACs", run.description.attention_macs);
  }
  add_speed(run, values);
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

namespace {

std::vector<RunValue> computed_values(const RunGroup& group) {
  if (!group.has_seeds()) return run_values(group.runs.front());
  std::vector<std::vector<RunValue>> runs;
  for (const RunRecord* run : group.counted()) runs.push_back(run_values(*run));
  return over_seeds(runs);
}

}  // namespace

const std::vector<RunValue>& group_values(const RunGroup& group) {
  if (!group.values) group.values = std::make_shared<const std::vector<RunValue>>(computed_values(group));
  return *group.values;
}

report::Metric shown(const RunValue& value) {
  const bool is_measured = std::isfinite(value.spread) && value.form != ValueForm::count;
  const report::MetricDescription metric{.name = {}, .title = {}, .form = value.form};
  std::string text = is_measured ? report::measured_text(metric, value.value, value.spread, value.samples)
                                 : report::format_value(value.form, value.value, 6);
  text += value.suffix;
  return {value.heading.empty() ? value.name : value.heading, {text, value.value}, value.better};
}

}  // namespace cachet::tasks
