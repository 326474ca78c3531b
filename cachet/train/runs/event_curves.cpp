#include "cachet/train/runs/event_curves.h"

#include <algorithm>

#include "cachet/report/metric_description.h"
#include "cachet/train/step/step_meter.h"

namespace cachet::train {

StepCurve step_curve(const std::vector<Event>& events, Event::Kind kind, const std::string& metric) {
  StepCurve curve;
  double seconds = 0;
  for (const Event& event : events) {
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

Metrics last_evaluation(const std::vector<Event>& events) {
  for (auto event = events.rbegin(); event != events.rend(); ++event)
    if (event->kind == Event::Kind::evaluation) return event->metrics;
  return {};
}

double training_seconds(const std::vector<Event>& events) {
  double total = 0, since_line = 0, last = 0;
  for (const Event& event : events) {
    const double now = event.machine.find("seconds").value_or(last);
    since_line += now - last - event.machine.find("evaluation_seconds").value_or(0);
    last = now;
    if (event.kind != Event::Kind::step) continue;
    total += event.machine.find(kStepSeconds).value_or(std::max(0.0, since_line));
    since_line = 0;
  }
  return total;
}

report::Series curve(const std::vector<Event>& events, Event::Kind kind, const std::string& metric,
                     const std::string& name) {
  StepCurve curve = step_curve(events, kind, metric);
  return {name, std::move(curve.steps), std::move(curve.values)};
}

std::vector<std::string> metric_names(const std::vector<Event>& events, Event::Kind kind) {
  std::vector<std::string> names;
  for (const Event& event : events) {
    if (event.kind != kind) continue;
    for (const auto& [name, value] : event.metrics)
      if (!name.ends_with(report::kErrorSuffix) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace cachet::train
