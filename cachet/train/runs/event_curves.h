#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/runs/event_log.h"

namespace cachet::train {

/// A metric, of the model's or of the machine's, over the steps of a run.
struct StepCurve {
  std::vector<double> steps, seconds, values;  // seconds of the run until then, evaluations included
};

/// That of the events of a kind; empty where none has the metric.
StepCurve step_curve(const std::vector<Event>& events, Event::Kind kind, const std::string& metric);

/// The same over the steps, as charts take it.
report::Series curve(const std::vector<Event>& events, Event::Kind kind, const std::string& metric,
                     const std::string& name);

/// The time that the steps up to the last step line took, in seconds: no evaluations, no checkpoints. Step lines of
/// version 0.1.0 do not have it: there it is the time since the line before, without evaluations.
double training_seconds(const std::vector<Event>& events);

/// The metrics of the events of a kind, in the order in which they come up; standard errors are left out.
std::vector<std::string> metric_names(const std::vector<Event>& events, Event::Kind kind);

}  // namespace cachet::train
