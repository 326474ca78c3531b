#include "cachet/tasks/runs/differences.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/tasks/runs/run_comparison.h"
#include "tests/support/bytes.h"
#include "tests/support/test_data.h"
#include "tests/tasks/runs/synthetic_runs.h"

namespace cachet::tasks {
namespace {

Contender contender(const std::string& name, double value, double spread, std::optional<size_t> seeds = {}) {
  RunValue top1 = metric_value(report::description_of(classification_metrics(), "top1"), value);
  top1.spread = spread;
  return {name, top1, seeds};
}

std::string sentences_of(const std::vector<Contender>& all) { return difference_sentences(differences(all)); }

const std::string kNote = std::string(" ") + kNotCorrected;

TEST(Differences, OfRunsAreHeldToTheirStandardErrors) {
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01), contender("b", 0.85, 0.01), contender("c", 0.79, 0.01)}),
            "b is 5.0 points above a, more than twice the standard error of 1.4. "
            "c is 1.0 points below a, no more than twice the standard error of 1.4." +
                kNote);
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01)}), "");
  EXPECT_EQ(sentences_of({}), "");
}

// Bounds by scipy.stats.ttest_ind(equal_var=False).
TEST(Differences, OfMeansAreHeldToTheSpreadBetweenSeeds) {
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 3), contender("b", 0.83, 0.02, 3)}),
            "b is 3.0 points above a, no more than seeds explain (± 4.2 at 95 %).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 5), contender("b", 0.78, 0.01, 5)}),
            "b is 2.0 points below a, more than seeds explain (± 1.5 at 95 %).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 200), contender("b", 0.81, 0.01, 200)}),
            "b is 1.0 points above a, more than seeds explain (± 0.2 at 95 %).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0, 2), contender("b", 0.81, 0.0001, 2)}),
            "b is 1.0 points above a, more than seeds explain (± 0.1 at 95 %).");
}

TEST(Differences, WithoutEvidenceHaveNoVerdict) {
  const std::string seeds = "b is 4.0 points above a (no verdict: each of the two results needs two or more seeds).";
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01, 3), contender("b", 0.84, 0.001)}), seeds);
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01), contender("b", 0.84, 0.001, 3)}), seeds);
  EXPECT_EQ(sentences_of({contender("a", 0.8, NAN, 1), contender("b", 0.84, 0.001, 3)}), seeds);
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0, 2), contender("b", 0.8, 0, 2)}),
            "b is 0.0 points above a (no verdict: the two results do not vary over their seeds).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, NAN), contender("b", 0.85, 0.01)}),
            "b is 5.0 points above a (no verdict: each of the two results needs a standard error).");
  EXPECT_EQ(sentences_of({contender("a", 1, 0), contender("b", 0, 0)}),
            "b is 100.0 points below a (no verdict: the standard errors are 0).");
  EXPECT_EQ(sentences_of({contender("a", 0.8, 0.01), contender("b", NAN, NAN)}),
            "b and a: no verdict: top-1 of b is not a number.");
}

std::vector<RunRecord> side_of(const nlohmann::json& drawn, const std::string& name) {
  std::vector<RunRecord> runs;
  for (size_t seed = 0; seed < drawn["values"].size(); ++seed) {
    const auto& value = drawn["values"][seed];
    const bool failed = drawn["failed"] == seed;
    runs.push_back(test::synthetic_record(name + std::to_string(seed), std::to_string(seed),
                                          {value.is_null() ? NAN : value.get<double>()},
                                          failed ? train::StopReason::failed : train::StopReason::finished));
    runs.back().recipe["model.name"] = name;
  }
  return runs;
}

// tools/make_statistics_fixtures.py drew the groups and asked SciPy.
TEST(Differences, OfDrawnGroupsAreThoseOfScipy) {
  const auto recorded = nlohmann::json::parse(test::read_bytes(test::test_data() + "/statistics.json"));
  ASSERT_EQ(recorded["groups"].size(), 200U);
  std::map<std::string, int> verdicts;
  for (const auto& drawn : recorded["groups"]) {
    SCOPED_TRACE(drawn.dump());
    std::vector<RunRecord> runs = side_of(drawn["first"], "a");
    for (RunRecord& run : side_of(drawn["other"], "b")) runs.push_back(std::move(run));
    const std::vector<RunGroup> groups = grouped(runs);
    const std::vector<Difference> found = differences(contenders(groups));
    const auto expected = drawn["verdict"].get<std::string>();
    ++verdicts[expected];
    if (expected == "not compared") {
      EXPECT_TRUE(found.empty());
      const std::string printed = comparison_notes(groups);
      EXPECT_EQ(printed.find("explain"), std::string::npos) << printed;
      EXPECT_NE(printed.find("is left out of the significance tests and of the best values"), std::string::npos)
          << printed;
      continue;
    }
    ASSERT_EQ(found.size(), 1U);
    const std::string verdict = found[0].verdict_text(), printed = comparison_notes(groups);
    if (expected == "not a number") {
      EXPECT_EQ(found[0].verdict, Difference::Verdict::none);
      EXPECT_TRUE(verdict.starts_with("no verdict: ") && verdict.ends_with(" is not a number")) << verdict;
    } else if (expected == "equal seeds") {
      EXPECT_EQ(found[0].verdict, Difference::Verdict::none);
      EXPECT_EQ(verdict, "no verdict: the two results do not vary over their seeds");
    } else {
      EXPECT_EQ(found[0].verdict, expected == "more" ? Difference::Verdict::more : Difference::Verdict::no_more);
      char bound[32];
      std::snprintf(bound, sizeof bound, "%.1f", 100 * drawn["bound"].get<double>());
      EXPECT_EQ(verdict, expected + " than seeds explain (± " + bound + " at 95 %)");
    }
    EXPECT_NE(printed.find(verdict), std::string::npos) << printed;
  }
  EXPECT_EQ(verdicts.size(), 5U);
}

TEST(Differences, OfManyRunsAreATable) {
  std::vector<RunRecord> runs;
  for (const auto& [name, top1] : {std::pair{"a", 0.5}, {"b", 0.6}, {"c", 0.49}, {"d", 0.4}, {"e", 0.5}}) {
    runs.push_back(test::synthetic_record(name, "0", {top1}));
    runs.back().recipe["model.name"] = name;
  }
  const auto groups = grouped(runs);
  EXPECT_EQ(comparison_notes(groups), "");
  const report::Page page = comparison_page(groups, "");
  const auto& table = std::get<report::Table>(page.sections.front().blocks.at(1));
  EXPECT_EQ(table.title, "Compared with a");
  EXPECT_EQ(table.note, kNotCorrected);
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[0][1].text, "10.0 points above");
  EXPECT_EQ(table.rows[1][2].text, "no more than twice the standard error of 1.4");
}

}  // namespace
}  // namespace cachet::tasks
