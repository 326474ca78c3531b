#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/runs/run_values.h"

namespace cachet::tasks {

/// A result that is compared with other results: one run, or the mean of runs with several seeds, and the value of its
/// deciding metric.
struct Contender {
  std::string name;
  RunValue value;  // value of one run (its spread is a standard error on the test data), or mean of seeds
  std::optional<size_t> seeds{};  // number of seeds of a mean, whose spread is the deviation between seeds
};

/// A note at the end of tables and texts that show several verdicts on differences (Difference::Verdict).
inline constexpr const char* kNotCorrected =
    "Each verdict is at 95 % by itself; the verdicts are not corrected for several comparisons.";

/// Returns the difference `gap` of two values of a metric as text, such as "1.2". For an accuracy, the difference is in
/// percentage points.
std::string gap_text(const RunValue& value, double gap);

/// Returns the deciding metric of each ranked group (is_ranked); empty if there were no evaluations.
std::vector<Contender> contenders(const std::vector<RunGroup>& groups);

/// The difference of a contender from the first contender, and whether it is significant (95 % confidence). Means of
/// seeds are compared by Welch's t-test. The difference of two single runs is compared with twice its standard error on
/// the test data. The standard error does not include the effect of other seeds. The difference of a single run from a
/// mean of seeds is not tested (Verdict::none).
struct Difference {
  enum class Verdict { none, more, no_more };

  std::string name, from;
  std::string gap{};  // "5.0 points above"; empty if one of the values is NaN or infinite
  Verdict verdict = Verdict::none;
  std::string reason{};  // "twice the standard error of 1.4" (the gap's bound), or why there is no verdict

  /// Returns "more than twice the standard error of 1.4" or "no verdict: the standard errors are 0".
  std::string verdict_text() const;
};

/// Compares each later contender with the first contender, and returns the differences. Skips contenders whose metric
/// differs from the metric of the first contender.
std::vector<Difference> differences(const std::vector<Contender>& all);

/// If there are up to three differences, difference_sentences() shows them, and difference_table() is empty. If there
/// are more than three, difference_table() shows them, and difference_sentences() is empty.
std::string difference_sentences(const std::vector<Difference>& all);
report::Table difference_table(const std::vector<Difference>& all);

}  // namespace cachet::tasks
