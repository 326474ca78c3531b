#include "cachet/tasks/runs/group_curves.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cachet/tasks/runs/mean_curve.h"

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

bool has_chart(const std::vector<MetricChart>& charts, Event::Kind kind, const std::string& metric) {
  return std::ranges::any_of(charts,
                             [&](const MetricChart& chart) { return chart.kind == kind && chart.metric == metric; });
}

/// "on the test images", or "in evaluation" where the runs look at different data.
std::string evaluated_on(const std::vector<RunGroup>& groups) {
  std::string place;
  for (const RunGroup& group : groups) {
    const train::SampleWords& words = group.runs.front().description.words;
    const std::string own = "on the " + words.held_out + " " + words.many;
    if (!place.empty() && place != own) return "in evaluation";
    place = own;
  }
  return place;
}

/// What evaluations measured, then training and its means: what tasks described in their order, then what else was
/// logged.
std::vector<MetricChart> charts_of(const std::vector<RunGroup>& groups) {
  const std::string place = evaluated_on(groups);
  std::vector<MetricChart> charts;
  for (const Event::Kind kind : {Event::Kind::evaluation, Event::Kind::step}) {
    const bool evaluation = kind == Event::Kind::evaluation;
    const auto add = [&](const report::MetricDescription& metric) {
      if (metric.constant || has_chart(charts, kind, metric.name)) return;
      charts.push_back({kind, metric.name, report::heading(metric) + " " + (evaluation ? place : "in training"),
                        metric.unit.empty() ? metric.title : metric.unit,
                        evaluation || metric.better == report::Better::lower});
    };
    for (const RunGroup& group : groups)
      for (const report::MetricDescription& metric : group.runs.front().description.metrics) add(metric);
    if (!evaluation)
      for (const report::MetricDescription& metric : train::trainer_metrics())
        charts.push_back({kind, metric.name, report::heading(metric), metric.title, metric.name == "lr"});
    for (const RunGroup& group : groups)
      for (const RunRecord& run : group.runs)
        for (const std::string& name : train::metric_names(run.events, kind))
          add(report::description_of(group.runs.front().description.metrics, name));
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
  if (!group.has_seeds()) return {train::step_curve(group.runs.front().events, chart.kind, chart.metric), {}};
  std::vector<train::StepCurve> curves;
  for (const RunRecord* run : group.counted()) {
    train::StepCurve curve = train::step_curve(run->events, chart.kind, chart.metric);
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
        all[i].push_back({chart.title, over_time ? std::string(unit.name) : "step", chart.unit, std::move(series),
                          over_time ? kOverTime : kOverSteps});
      }
    }
  }
  return all;
}

}  // namespace cachet::tasks
