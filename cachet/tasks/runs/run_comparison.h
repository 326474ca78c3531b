#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/report/page/comparison_page.h"
#include "cachet/tasks/runs/run_groups.h"

namespace cachet::tasks {

/// Returns a row of the results for each group, with the group's recipe (train.seed lists the seeds) and curves.
std::vector<report::ComparedRun> compared(const std::vector<RunGroup>& groups);

/// Returns a row of the results for each single run, without curves.
std::vector<report::ComparedRun> compared_alone(const std::vector<RunGroup>& groups);

/// Returns a table of all runs that count for the mean of their group: a row for each run, with the columns seed,
/// state, step and deciding metric. The table is empty if no group has several seeds.
report::Table seeds_table(const std::vector<RunGroup>& groups);

/// Returns a sentence for each run with unreadable lines in metrics.jsonl. If a run has unreadable lines in
/// metrics.jsonl, its numbers are computed from the readable lines.
std::vector<std::string> unreadable_lines(const std::vector<RunGroup>& groups);

/// Returns the sentences below the results: differences of groups, the meaning of ±, and runs outside the means.
std::string comparison_notes(const std::vector<RunGroup>& groups);

/// Returns the tables of differences from the first group (difference_table, paired_seeds_table) that are not empty.
std::vector<report::Table> difference_tables(const std::vector<RunGroup>& groups);

/// Returns the page with results, seeds, differing keys and curves.
report::Page comparison_page(const std::vector<RunGroup>& groups, const std::string& title);

/// Returns a row for each run, for tables of published results: recipe, seed, commit, device, date, state, steps, and
/// all numbers of the run.
report::Table published_table(const std::vector<RunGroup>& groups);

}  // namespace cachet::tasks
