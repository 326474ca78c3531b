#pragma once

#include <string>
#include <vector>

#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// How the conditions of a group's results differ from those of the first group that is over: its task, its test data,
/// and what report::MetricDescription::condition marks. "bytes of the text: 1200 and 1100". Empty if none is known to
/// differ.
std::string differing_conditions(const RunGroup& group, const std::vector<RunGroup>& groups);

/// Whether the group is compared with the first group that is over, although the test data or another condition of one
/// of them is unknown.
bool are_conditions_unknown(const RunGroup& group, const std::vector<RunGroup>& groups);

/// The runs whose data have image files of the same names and sizes as others that they are compared with, and of other
/// modification times: the test data of a group and of the first group that is over, the training and test data of the
/// runs of a group. By name.
std::vector<std::string> runs_with_other_times(const std::vector<RunGroup>& groups);

/// Whether the group takes part in tests and in what is best: it is over, none of its seeds has failed, and its
/// conditions are not known to differ.
bool is_ranked(const RunGroup& group, const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
