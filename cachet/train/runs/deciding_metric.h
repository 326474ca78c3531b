#pragma once

#include "cachet/train/runs/run_description.h"
#include "cachet/train/step/metrics.h"

namespace cachet::train {

/// Returns the metric that decides which evaluation of a run is the best. Throws std::logic_error if the task names no
/// deciding metric, or does not define whether larger values are better.
const report::MetricDescription& deciding_metric(const RunDescription& run);

/// Returns the value of the deciding metric in an evaluation. Throws std::runtime_error if the evaluation does not have
/// the value of the deciding metric.
double deciding_value(const RunDescription& run, const Metrics& evaluation);

}  // namespace cachet::train
