#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/runs/run_values.h"

namespace cachet::tasks {

/// What decides between runs, as a comparison of two of them needs it.
struct Contender {
  std::string name;
  RunValue value;  // of a run alone, whose spread is a standard error on the test data; or the mean of seeds
  std::optional<size_t> seeds{};  // how many the mean is of, whose spread is the deviation between them
};

/// A note for tables and sentences with more than one verdict.
inline constexpr const char* kNotCorrected =
    "Each verdict is at 95 % by itself; the verdicts are not corrected for several comparisons.";

/// A difference of two such values: "1.2", points of an accuracy.
std::string gap_text(const RunValue& value, double gap);

/// The metric that decides of each group that is ranked (is_ranked); none if nothing was evaluated.
std::vector<Contender> contenders(const std::vector<RunGroup>& groups);

/// How another contender differs from the first one, and whether by more than chance at 95 %: means of seeds by Welch's
/// t-test; two runs alone by twice the standard error on the test data, which does not cover other seeds. A run alone
/// and a mean of seeds have no verdict.
struct Difference {
  enum class Verdict { none, more, no_more };

  std::string name, from;
  std::string gap{};  // "5.0 points above"; empty if one of the values is not a number
  Verdict verdict = Verdict::none;
  std::string reason{};  // the bound of the gap: "twice the standard error of 1.4"; or why there is no verdict

  /// "more than twice the standard error of 1.4", "no verdict: the standard errors are 0".
  std::string verdict_text() const;
};

/// One for each contender after the first that has the same metric.
std::vector<Difference> differences(const std::vector<Contender>& all);

/// Up to three of them are sentences, and the table has no rows; more are a table, and there are no sentences.
std::string difference_sentences(const std::vector<Difference>& all);
report::Table difference_table(const std::vector<Difference>& all);

}  // namespace cachet::tasks
