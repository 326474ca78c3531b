#pragma once

#include "cachet/train/runs/run_description.h"
#include "cachet/train/step/metrics.h"

namespace cachet::train {

/// Returns the metric that decides which evaluation of a run is the best. Throws std::logic_error if the task does not
/// name such a metric, or does not define whether larger is better.
const report::MetricDescription& deciding_metric(const RunDescription& run);

/// Returns the value of this metric in an evaluation. Throws std::runtime_error if the evaluation does not have it.
double deciding_value(const RunDescription& run, const Metrics& evaluation);

}  // namespace cachet::train
