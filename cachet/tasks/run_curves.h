#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/train/event_log.h"

namespace cachet::tasks {

inline constexpr const char* kErrorSuffix = "_stderr";  // behind the name of a metric, the standard error of it

/// A metric, of the model's or of the machine's, over the steps of a run.
struct StepCurve {
  std::vector<double> steps, seconds, values;  // seconds of training until then
};

/// That of the events of a kind; empty where none has the metric.
StepCurve step_curve(const std::vector<train::Event>& events, train::Event::Kind kind, const std::string& metric);

/// The same over the steps, as charts take it.
report::Series curve(const std::vector<train::Event>& events, train::Event::Kind kind, const std::string& metric,
                     const std::string& name);

/// The metrics of the events of a kind, in the order in which they come up; standard errors are left out.
std::vector<std::string> metric_names(const std::vector<train::Event>& events, train::Event::Kind kind);

/// The mean of several runs' curves at the steps that all of them have, at the mean of their times, and the deviation
/// between them (of n − 1). Behind the end of the shortest there is no mean.
struct MeanCurve {
  StepCurve mean;
  std::vector<double> deviation;
};
MeanCurve mean_curve(const std::vector<StepCurve>& curves);

/// Steps of unified normalization by the last event: means over its layers of what observe() tells of each.
struct UnifiedNormUse {
  double steps = 0, on_window = 0;  // a layer
  double filtered = 0;              // of all layers together
  int64_t layers = 0;               // 0 where a model has none
};
UnifiedNormUse unified_norm_use(const std::vector<train::Event>& events);

}  // namespace cachet::tasks
