#pragma once

#include <string>
#include <vector>

#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// How the conditions of a group's results (report::MetricDescription::condition) differ from those of the first group
/// that is over: "bytes of the text: 1200 and 1100". Empty if all are equal, and if another metric decides, since such
/// groups are not compared anyway. A condition that one of the groups does not know differs.
std::string differing_conditions(const RunGroup& group, const std::vector<RunGroup>& groups);

/// Whether the group takes part in tests and in what is best: it is over, and its conditions do not differ.
bool is_ranked(const RunGroup& group, const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
