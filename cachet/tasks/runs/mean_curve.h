#pragma once

#include <vector>

#include "cachet/train/runs/event_curves.h"

namespace cachet::tasks {

/// The mean of several runs' curves at the steps that all of them have, at the mean of their times, and the deviation
/// between them (of n − 1). After the end of the shortest there is no mean.
struct MeanCurve {
  train::StepCurve mean;
  std::vector<double> deviation;
};
MeanCurve mean_curve(const std::vector<train::StepCurve>& curves);

}  // namespace cachet::tasks
