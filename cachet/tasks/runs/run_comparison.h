#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/report/page/comparison_page.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// A row of the results for each group, with its recipe (train.seed lists its seeds) and its curves.
std::vector<report::ComparedRun> compared(const std::vector<RunGroup>& groups);

/// A row of the results for each run alone, without curves.
std::vector<report::ComparedRun> compared_alone(const std::vector<RunGroup>& groups);

/// The single runs of the means: seed, state, step, and what decides. Empty where no group has several seeds.
report::Table seeds_table(const std::vector<RunGroup>& groups);

/// A sentence for each run with lines of metrics.jsonl that cannot be read: its numbers are those of the other lines.
std::vector<std::string> unreadable_lines(const std::vector<RunGroup>& groups);

/// Sentences below the results: how the groups differ, what ± means, and which runs their means leave out.
std::string comparison_notes(const std::vector<RunGroup>& groups);

/// What differs from the first of the groups, where that is too much for a note: many groups, and pairs of seeds.
std::vector<report::Table> difference_tables(const std::vector<RunGroup>& groups);

/// Results, seeds, differing keys, curves.
report::Page comparison_page(const std::vector<RunGroup>& groups, const std::string& title);

/// A row for each run, for tables of published results: recipe, seed, commit, device, date, state, steps, and every
/// number of the run.
report::Table published_table(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
