#pragma once

#include <vector>

#include "cachet/train/runs/event_curves.h"

namespace cachet::tasks {

/// The mean of the curves of several runs at their common steps, at the mean of their times, and the deviation between
/// them (with n − 1). The mean ends with the shortest curve.
struct MeanCurve {
  train::StepCurve mean;
  std::vector<double> deviation;
};
MeanCurve mean_curve(const std::vector<train::StepCurve>& curves);

}  // namespace cachet::tasks
