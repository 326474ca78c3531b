#include "cachet/tasks/normality_charts.h"

#include <algorithm>
#include <cmath>

#include "cachet/analysis/statistics/density.h"

namespace cachet::tasks {

report::LineChart normality_density(const std::string& title, const std::vector<double>& activations,
                                    const std::vector<double>& gradients) {
  constexpr int kPoints = 101;
  constexpr double kMinWidth = 0.01;  // of the kernels: a percent of the channels
  report::LineChart chart{title, "normal channels", "density over layers"};
  chart.y_from_zero = true;
  std::vector<double> points;
  for (int i = 0; i < kPoints; ++i) points.push_back(i / (kPoints - 1.0));
  const auto add = [&](const char* name, std::vector<double> values) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (!values.empty()) chart.series.push_back({name, points, analysis::kernel_density(values, points, kMinWidth)});
  };
  add("activations", activations);
  add("gradients", gradients);
  return chart;
}

}  // namespace cachet::tasks
