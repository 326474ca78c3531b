#pragma once

#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// Returns the difference of each group from the first group in the deciding metric, seed by seed. Both groups have the
/// same random draws of a seed (initial weights, the order of samples), so that their effects cancel. The columns are
/// the mean, its 95 % interval, the effect size (mean ÷ deviation of the differences), and the number of seeds that
/// would decide if these do not. Finished groups with at least three seeds in common have a row.
report::Table paired_seeds_table(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
