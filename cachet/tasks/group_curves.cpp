#include "cachet/tasks/group_curves.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cachet/tasks/run_curves.h"

namespace cachet::tasks {
namespace {

using train::Event;

constexpr const char* kOverSteps = "Over the steps";
constexpr const char* kOverTime = "Over time";

/// A chart of one metric.
struct MetricChart {
  Event::Kind kind;
  std::string metric, title, unit;
  bool over_time;
};

std::vector<MetricChart> known_charts() {
  return {
      {Event::Kind::evaluation, "top1", "Accuracy on the test images", "top-1", true},
      {Event::Kind::evaluation, "top5", "Top-5 accuracy on the test images", "top-5", false},
      {Event::Kind::evaluation, "loss", "Loss in evaluation", "loss", true},
      {Event::Kind::step, "top1", "Accuracy in training", "top-1", false},
      {Event::Kind::step, "loss", "Loss in training", "loss", true},
      {Event::Kind::step, "lr", "Learning rate", "rate", true},
      {Event::Kind::step, "grad_norm", "Gradient norm", "norm", false},
  };
}

/// Known ones in the order above, then what else the runs logged.
std::vector<MetricChart> charts_of(const std::vector<RunGroup>& groups) {
  std::vector<MetricChart> charts = known_charts();
  for (const RunGroup& group : groups) {
    for (const RunRecord& run : group.runs) {
      for (const Event::Kind kind : {Event::Kind::evaluation, Event::Kind::step}) {
        for (const std::string& name : metric_names(run.events, kind)) {
          const bool known = std::ranges::any_of(
              charts, [&](const MetricChart& chart) { return chart.kind == kind && chart.metric == name; });
          if (known) continue;
          const bool evaluation = kind == Event::Kind::evaluation;
          charts.push_back({kind, name, name + (evaluation ? " in evaluation" : " in training"), name, evaluation});
        }
      }
    }
  }
  return charts;
}

struct TimeUnit {
  double seconds;
  const char* name;
};

TimeUnit time_unit(const std::vector<RunGroup>& groups) {
  double longest = 0;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      for (const Event& event : run.events) longest = std::max(longest, event.machine.find("seconds").value_or(0));
  if (longest < 180) return {1, "seconds"};
  return longest < 3 * 3600 ? TimeUnit{60, "minutes"} : TimeUnit{3600, "hours"};
}

MeanCurve curve_of(const RunGroup& group, const MetricChart& chart) {
  if (!group.has_seeds()) return {step_curve(group.runs.front().events, chart.kind, chart.metric), {}};
  std::vector<StepCurve> curves;
  for (const RunRecord* run : group.counted()) {
    StepCurve curve = step_curve(run->events, chart.kind, chart.metric);
    if (!curve.steps.empty()) curves.push_back(std::move(curve));
  }
  MeanCurve mean = mean_curve(curves);
  if (curves.size() < 2) mean.deviation.clear();
  return mean;
}

}  // namespace

std::vector<std::vector<report::Curve>> group_curves(const std::vector<RunGroup>& groups) {
  const TimeUnit unit = time_unit(groups);
  const std::vector<MetricChart> charts = charts_of(groups);
  std::vector<std::vector<report::Curve>> all(groups.size());
  for (const bool over_time : {false, true}) {
    for (const MetricChart& chart : charts) {
      if (over_time && !chart.over_time) continue;
      for (size_t i = 0; i < groups.size(); ++i) {
        MeanCurve curve = curve_of(groups[i], chart);
        if (curve.mean.steps.empty()) continue;
        report::Series series{"", std::move(curve.mean.steps), std::move(curve.mean.values),
                              std::move(curve.deviation)};
        if (over_time) {
          series.x = std::move(curve.mean.seconds);
          for (double& x : series.x) x /= unit.seconds;
        }
        all[i].push_back({chart.title, over_time ? std::string(unit.name) + " of training" : "step", chart.unit,
                          std::move(series), over_time ? kOverTime : kOverSteps});
      }
    }
  }
  return all;
}

}  // namespace cachet::tasks
