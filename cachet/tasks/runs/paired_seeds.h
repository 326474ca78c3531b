#pragma once

#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// Compares the deciding metric of each group with that of the first group, seed by seed. For each seed, the two
/// compared groups have the same random numbers (initial weights, the order of samples), so that the effects of the
/// random numbers cancel. The columns are the mean difference, its 95 % interval, the effect size (mean ÷ standard
/// deviation of the differences) and, if the present seeds do not show the difference, the number of seeds that would
/// show it. The table has a row for each finished group with three or more seeds in common with the first group.
report::Table paired_seeds_table(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
