#pragma once

#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// The difference of each group from the first in the metric that decides, seed by seed: random draws of a seed
/// (weights at the start, the order of samples) are the same on both sides and cancel. Mean, interval of 95 %, size of
/// the effect (mean ÷ deviation of the differences), and how many seeds would decide where these do not. Of groups that
/// are over and share three seeds at least; without rows where there is none.
report::Table paired_seeds_table(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
