#pragma once

#include "cachet/train/runs/run_description.h"
#include "cachet/train/step/metrics.h"

namespace cachet::train {

/// The metric that decides which evaluation of a run is the best. Throws std::logic_error for a task that does not name
/// it, and whether larger is better.
const report::MetricDescription& deciding_metric(const RunDescription& run);

/// Its value in an evaluation. Throws std::runtime_error where the evaluation did not give it.
double deciding_value(const RunDescription& run, const Metrics& evaluation);

}  // namespace cachet::train
