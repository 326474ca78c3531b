#pragma once

#include <string>
#include <vector>

#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// Describes how the conditions of a group's results differ from the conditions of the first finished group's results:
/// "bytes of the text: 1200 and 1100". The conditions of a result are the task, the test data, and all metrics whose
/// MetricDescription::condition is true. If no difference is known, the description is empty.
std::string differing_conditions(const RunGroup& group, const std::vector<RunGroup>& groups);

/// Whether the group is compared with the first finished group, although the test data or another condition of one of
/// the two groups is unknown.
bool are_conditions_unknown(const RunGroup& group, const std::vector<RunGroup>& groups);

/// Returns the names of runs whose image files have the same names and sizes as a compared run's image files, but other
/// modification times. Compares the test data of each group with the test data of the first finished group. Within a
/// group, compares both the training data and the test data of the runs.
std::vector<std::string> runs_with_other_times(const std::vector<RunGroup>& groups);

/// Whether the group of runs takes part in statistical tests and in the choice of the best group. Returns true if
/// the group is finished, no run of the group failed, and differing_conditions() returns an empty text for the
/// group.
bool is_ranked(const RunGroup& group, const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
