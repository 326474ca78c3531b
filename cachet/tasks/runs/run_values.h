#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cachet/report/metric_description.h"
#include "cachet/report/page/comparison_page.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// A number in a table, for one run or for the runs of several seeds.
struct RunValue {
  std::string name;  // "top-1"
  double value = 0;
  report::ValueForm form = report::ValueForm::number;
  report::Better better = report::Better::neither;
  enum class OverSeeds { mean, best } over_seeds = OverSeeds::mean;
  std::string suffix{};  // " of 3000", " pixels"
  /// The number after ±: the standard error of a run's value, or the deviation between seeds. NaN if there is none.
  double spread = std::numeric_limits<double>::quiet_NaN();
  int64_t samples = 0;     // number of measured samples of a fraction with a standard error; 0 if not known
  bool decides = false;    // whether this value is the deciding metric of its runs
  bool condition = false;  // MetricDescription::condition
  std::string heading{};   // heading of its column for people, if it differs from the name: "MACs (evaluation)"
};

/// Returns the value of a metric, given the description of the metric by its task.
RunValue metric_value(const report::MetricDescription& metric, double value);

/// Returns the last evaluation, the best value of the deciding metric, the model's size, and the speed.
std::vector<RunValue> run_values(const RunRecord& run);

/// Returns the mean of each value over the runs that have it, with the deviation between runs. The deviation has the
/// divisor n − 1, and is NaN for one run. If a value has OverSeeds::best, returns the best value instead of the mean.
std::vector<RunValue> over_seeds(const std::vector<std::vector<RunValue>>& runs);

/// If the group has one seed, returns run_values() of its run. If the group has several seeds (has_seeds()), returns
/// over_seeds() of the runs that counted() returns. The first call computes the values and stores them in the group.
const std::vector<RunValue>& group_values(const RunGroup& group);

/// Returns the value in the form that tables show: "85.6 % ± 0.8 %".
report::Metric shown(const RunValue& value);

}  // namespace cachet::tasks
