#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cachet/report/metric_description.h"
#include "cachet/report/page/comparison_page.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// A number that a table has of a run, or of the runs of several seeds.
struct RunValue {
  std::string name;  // "top-1"
  double value = 0;
  report::ValueForm form = report::ValueForm::number;
  report::Better better = report::Better::neither;
  enum class OverSeeds { mean, best } over_seeds = OverSeeds::mean;
  std::string suffix{};  // " of 3000", " pixels"
  /// The number after ±: the standard error of a run's accuracy, or the deviation between seeds. NaN = nothing.
  double spread = std::numeric_limits<double>::quiet_NaN();
  int64_t samples = 0;     // of a fraction with a standard error: the number of measured samples, 0 if not known
  bool decides = false;    // whether it is what its runs were to reach
  bool condition = false;  // MetricDescription::condition
  std::string heading{};   // of its column in tables for people, if that is not the name: "MACs (evaluation)"
};

/// A metric as its task described it.
RunValue metric_value(const report::MetricDescription& metric, double value);

/// Its last evaluation, the best of what it was to reach, the model's size, its speed.
std::vector<RunValue> run_values(const RunRecord& run);

/// The mean of each value over the runs that have it, with the deviation between them (of n − 1; NaN for one); of those
/// that are best ones, the best.
std::vector<RunValue> over_seeds(const std::vector<std::vector<RunValue>>& runs);

/// run_values() of a run alone, over_seeds() of the counted runs of a group. Computed once for a group.
const std::vector<RunValue>& group_values(const RunGroup& group);

/// "85.6 % ± 0.8 %".
report::Metric shown(const RunValue& value);

}  // namespace cachet::tasks
