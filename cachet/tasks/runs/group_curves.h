#pragma once

#include <vector>

#include "cachet/report/page/comparison_page.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// Returns the curves of each group, for charts of all groups together: metrics of evaluation and training over the
/// steps, and the most important metrics over time. The unit of time suits the longest run. If a group has several
/// seeds, its curve is the mean of the runs of counted(), with a band that shows the deviation of the runs.
std::vector<std::vector<report::Curve>> group_curves(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
