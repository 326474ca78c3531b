#pragma once

#include <vector>

#include "cachet/train/runs/event_curves.h"

namespace cachet::tasks {

/// The mean of several runs' curves at their common steps, with the mean times of these steps and the deviation between
/// the curves (with n − 1). The mean ends with the shortest curve.
struct MeanCurve {
  train::StepCurve mean;
  std::vector<double> deviation;
};
MeanCurve mean_curve(const std::vector<train::StepCurve>& curves);

}  // namespace cachet::tasks
