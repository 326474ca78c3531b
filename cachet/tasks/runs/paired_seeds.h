#pragma once

#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// Returns the difference of each group from the first in the deciding metric, seed by seed. The random draws of a seed
/// (initial weights, the order of samples) are the same on both sides and cancel. Columns: mean, interval of 95 %,
/// effect size (mean ÷ deviation of the differences), and the number of seeds that would decide if these do not. Groups
/// must be finished and have at least three seeds in common; otherwise they have no rows.
report::Table paired_seeds_table(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
