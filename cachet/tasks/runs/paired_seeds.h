#pragma once

#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// How each group behind the first differs from it in the metric that decides, seed by seed: what is drawn by a seed
/// (weights at the start, the order of samples) is the same on both sides and cancels. Mean, interval of 95 %, size of
/// the effect (mean ÷ deviation of the differences), and how many seeds would decide where these do not. Of groups that
/// are over and share three seeds at least; without rows where there is none.
report::Table paired_seeds_table(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
