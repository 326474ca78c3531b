#pragma once

#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// Returns the difference of each group from the first group in the deciding metric, seed by seed. For each seed, the
/// two compared groups have the same random numbers (initial weights, the order of samples), so that the effects of
/// these random numbers cancel. The columns are the mean of the differences, its 95 % interval, the effect size (mean ÷
/// standard deviation of the differences) and the number of seeds that would show the difference, if the present seeds
/// do not. The table has a row for each finished group with three or more seeds in common with the first group.
report::Table paired_seeds_table(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
