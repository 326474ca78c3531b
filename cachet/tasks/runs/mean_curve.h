#pragma once

#include <vector>

#include "cachet/train/runs/event_curves.h"

namespace cachet::tasks {

/// The mean of several runs' curves at their common steps, with the mean times of these steps and the standard
/// deviation between the curves (with the divisor n − 1). The mean curve ends where the shortest curve ends.
struct MeanCurve {
  train::StepCurve mean;
  std::vector<double> deviation;
};
MeanCurve mean_curve(const std::vector<train::StepCurve>& curves);

}  // namespace cachet::tasks
