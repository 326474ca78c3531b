#include "cachet/tasks/runs/differences.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cachet/tasks/runs/comparison.h"
#include "tests/tasks/runs/made_up_runs.h"

namespace cachet::tasks {
namespace {

Contender contender(const std::string& name, double value, double spread, size_t seeds = 1) {
  RunValue top1 = metric_value(report::description_of(classification_metrics(), "top1"), value);
  top1.spread = spread;
  return {name, top1, seeds};
}

std::string sentences_of(const std::vector<Contender>& all) { return difference_sentences(differences(all)); }

TEST(Differences, OfRunsAreHeldToTheirStandardErrors) {
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01), contender("b", 0.85, 0.01), contender("c", 0.79, 0.01)}),
            "b is 5.0 points above a, more than twice the standard error of 1.4. "
            "c is 1.0 points below a, no more than twice the standard error of 1.4.");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01)}), "");
  EXPECT_EQ(sentences_of({contender("a", 0.8, NAN), contender("b", 0.85, 0.01)}), "");
  EXPECT_EQ(sentences_of({}), "");
}

// Bounds by scipy.stats.t.ppf(0.975, degrees): 4.303 for the 2.94 ≥ 2 whole degrees of the first, 2.306 for 8.
TEST(Differences, OfMeansAreHeldToTheSpreadBetweenSeeds) {
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 3), contender("b", 0.83, 0.02, 3)}),
            "b is 3.0 points above a, no more than seeds explain (± 5.6 at 95 %).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 5), contender("b", 0.78, 0.01, 5)}),
            "b is 2.0 points below a, more than seeds explain (± 1.5 at 95 %).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 200), contender("b", 0.81, 0.01, 200)}),
            "b is 1.0 points above a, more than seeds explain (± 0.2 at 95 %).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0, 2), contender("b", 0.8, 0, 2)}),
            "b is 0.0 points above a, no more than seeds explain (± 0.0 at 95 %).");
}

// 4.303 · 0.01 · √(4/3) = 0.0497: a run alone is one more seed, whichever of the two it is.
TEST(Differences, OfARunBesideSeedsAreHeldToOneMoreSeed) {
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 3), contender("b", 0.84, 0.001)}),
            "b is 4.0 points above a, no more than seeds explain (± 5.0 at 95 %).");
  EXPECT_EQ(sentences_of({contender("b", 0.86, NAN), contender("a", 0.8, 0.01, 3)}),
            "a is 6.0 points below b, more than seeds explain (± 5.0 at 95 %).");
}

TEST(Differences, OfManyRunsAreATable) {
  std::vector<RunRecord> runs;
  for (const auto& [name, top1] : {std::pair{"a", 0.5}, {"b", 0.6}, {"c", 0.49}, {"d", 0.4}, {"e", 0.5}}) {
    runs.push_back(test::made_up_record(name, "0", {top1}));
    runs.back().recipe["model.name"] = name;
  }
  const auto groups = grouped(runs);
  EXPECT_EQ(comparison_notes(groups), "");
  const report::Page page = comparison_page(groups, "");
  const auto& table = std::get<report::Table>(page.sections.front().blocks.at(1));
  EXPECT_EQ(table.title, "Beside a");
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[0][1].text, "10.0 points above");
  EXPECT_EQ(table.rows[1][2].text, "no more than twice the standard error of 1.4");
}

}  // namespace
}  // namespace cachet::tasks
