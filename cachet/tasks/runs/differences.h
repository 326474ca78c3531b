#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/runs/run_values.h"

namespace cachet::tasks {

/// What decides between runs, as a comparison of two of them needs it.
struct Contender {
  std::string name;
  RunValue value;    // of a run alone, or the mean of its seeds
  size_t seeds = 1;  // 1: value.spread is a standard error on the test data; else the deviation between seeds
};

/// A difference of two such values: "1.2", points of an accuracy.
std::string gap_text(const RunValue& value, double gap);

/// The metric that decides of each group that is ranked (is_ranked); none if nothing was evaluated.
std::vector<Contender> contenders(const std::vector<RunGroup>& groups);

/// How one behind the first differs from it, and whether by more than chance at 95 %: between means of seeds by Welch's
/// t-test; a run alone beside seeds by the interval that one more seed would fall into; two runs alone by twice the
/// standard error on the test data, which says nothing of other seeds.
struct Difference {
  std::string name, from;
  std::string gap;     // "5.0 points above"
  std::string chance;  // "more than twice the standard error of 1.4"
};

/// One for each behind the first; none of those where it cannot be told.
std::vector<Difference> differences(const std::vector<Contender>& all);

/// Up to three of them are sentences, and the table has no rows; more are a table, and there are no sentences.
std::string difference_sentences(const std::vector<Difference>& all);
report::Table difference_table(const std::vector<Difference>& all);

}  // namespace cachet::tasks
