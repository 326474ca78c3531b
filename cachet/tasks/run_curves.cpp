#include "cachet/tasks/run_curves.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cachet/tasks/series_names.h"

namespace cachet::tasks {

StepCurve step_curve(const std::vector<train::Event>& events, train::Event::Kind kind, const std::string& metric) {
  StepCurve curve;
  double seconds = 0;
  for (const train::Event& event : events) {
    seconds = event.machine.find("seconds").value_or(seconds);
    if (event.kind != kind) continue;
    auto value = event.metrics.find(metric);
    if (!value) value = event.machine.find(metric);
    if (!value) continue;
    curve.steps.push_back(static_cast<double>(event.step));
    curve.seconds.push_back(seconds);
    curve.values.push_back(*value);
  }
  return curve;
}

report::Series curve(const std::vector<train::Event>& events, train::Event::Kind kind, const std::string& metric,
                     const std::string& name) {
  StepCurve curve = step_curve(events, kind, metric);
  return {name, std::move(curve.steps), std::move(curve.values)};
}

std::vector<std::string> metric_names(const std::vector<train::Event>& events, train::Event::Kind kind) {
  std::vector<std::string> names;
  for (const train::Event& event : events) {
    if (event.kind != kind) continue;
    for (const auto& [name, value] : event.metrics)
      if (!name.ends_with(kErrorSuffix) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

MeanCurve mean_curve(const std::vector<StepCurve>& curves) {
  struct AtStep {
    double seconds = 0;
    std::vector<double> values;
  };
  std::map<double, AtStep> steps;
  for (const StepCurve& curve : curves) {
    for (size_t i = 0; i < curve.steps.size(); ++i) {
      AtStep& at = steps[curve.steps[i]];
      at.seconds += curve.seconds[i];
      at.values.push_back(curve.values[i]);
    }
  }
  MeanCurve all;
  const auto count = static_cast<double>(curves.size());
  for (const auto& [step, at] : steps) {
    if (at.values.size() != curves.size()) continue;
    double sum = 0, squares = 0;
    for (const double value : at.values) sum += value;
    for (const double value : at.values) squares += std::pow(value - sum / count, 2);
    all.mean.steps.push_back(step);
    all.mean.seconds.push_back(at.seconds / count);
    all.mean.values.push_back(sum / count);
    all.deviation.push_back(curves.size() > 1 ? std::sqrt(squares / (count - 1)) : 0);
  }
  return all;
}

UnifiedNormUse unified_norm_use(const std::vector<train::Event>& events) {
  UnifiedNormUse use;
  if (events.empty()) return use;
  for (const train::Series& series : events.back().series) {
    if (!series.name.starts_with(kUnifiedNormSeries) || series.values.size() != 3) continue;
    use.steps += series.values[0];
    use.on_window += series.values[1];
    use.filtered += series.values[2];
    ++use.layers;
  }
  if (use.layers > 0) {
    use.steps /= static_cast<double>(use.layers);
    use.on_window /= static_cast<double>(use.layers);
  }
  return use;
}

}  // namespace cachet::tasks
