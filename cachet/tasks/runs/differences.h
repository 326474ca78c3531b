#pragma once

#include <string>
#include <vector>

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

/// The metric that decides of each group; none of groups that are not over, or where nothing was evaluated.
std::vector<Contender> contenders(const std::vector<RunGroup>& groups);

/// Sentences on how each behind the first differs from it, and whether by more than chance at 95 %: between means of
/// seeds by Welch's t-test; a run alone beside seeds by the interval that one more seed would fall into; two runs alone
/// by twice the standard error on the test data, which says nothing of other seeds. Left out where that cannot be told.
std::string difference_sentences(const std::vector<Contender>& all);

}  // namespace cachet::tasks
