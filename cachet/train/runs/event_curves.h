#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/runs/event_log.h"

namespace cachet::train {

/// A metric of the model or of the machine, over the steps of a run.
struct StepCurve {
  std::vector<double> steps, seconds, values;  // seconds of the run up to the step, evaluations included
};

/// Returns the curve of a metric from the events of kind `kind`. The curve is empty if no event has the metric.
StepCurve step_curve(const std::vector<Event>& events, Event::Kind kind, const std::string& metric);

/// Returns the curve of step_curve() as a series for charts: x is the step, y is the value of the metric.
report::Series curve(const std::vector<Event>& events, Event::Kind kind, const std::string& metric,
                     const std::string& name);

/// Returns the metrics of the last evaluation; empty if there was none.
Metrics last_evaluation(const std::vector<Event>& events);

/// Returns the duration in seconds of the steps up to the last step line, without evaluations and checkpoints. For step
/// lines of version 0.1.0, which do not store the duration of steps, uses the time since the previous step line, minus
/// the time of evaluations.
double training_seconds(const std::vector<Event>& events);

/// Returns the names of the metrics in events of kind `kind`, in order of their first event, without standard errors.
std::vector<std::string> metric_names(const std::vector<Event>& events, Event::Kind kind);

}  // namespace cachet::train
