#pragma once

#include <vector>

#include "cachet/report/page/comparison_page.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// The curves of each group, for charts that all groups share: measurements of evaluation and training over the steps,
/// and the most important of them over the time, in the unit that suits the longest run. For several seeds, the
/// mean of the counted runs with a band of their deviation.
std::vector<std::vector<report::Curve>> group_curves(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
