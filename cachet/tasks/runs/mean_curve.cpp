#include "cachet/tasks/runs/mean_curve.h"

#include <cmath>
#include <map>

namespace cachet::tasks {

MeanCurve mean_curve(const std::vector<train::StepCurve>& curves) {
  struct AtStep {
    double seconds = 0;
    std::vector<double> values;
  };
  std::map<double, AtStep> steps;
  for (const train::StepCurve& curve : curves) {
    for (size_t i = 0; i < curve.steps.size(); ++i) {
      AtStep& at = steps[curve.steps[i]];
      at.seconds += curve.seconds[i];
      at.values.push_back(curve.values[i]);
    }
  }
  MeanCurve all;
  const auto count = static_cast<double>(curves.size());
  for (const auto& [step, at] : steps) {
    if (at.values.size() != curves.size()) continue;
    double sum = 0, squares = 0;
    for (const double value : at.values) sum += value;
    for (const double value : at.values) squares += std::pow(value - sum / count, 2);
    all.mean.steps.push_back(step);
    all.mean.seconds.push_back(at.seconds / count);
    all.mean.values.push_back(sum / count);
    all.deviation.push_back(curves.size() > 1 ? std::sqrt(squares / (count - 1)) : 0);
  }
  return all;
}

}  // namespace cachet::tasks
