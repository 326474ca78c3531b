#include "cachet/tasks/runs/paired_seeds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cachet/report/text/text_table.h"
#include "cachet/tasks/runs/run_groups.h"
#include "tests/tasks/runs/synthetic_runs.h"

namespace cachet::tasks {
namespace {

TEST(PairedSeeds, ShowWhatTheMeansHide) {
  std::vector<RunRecord> runs;
  const std::vector<double> plain{0.50, 0.60, 0.70};
  for (size_t seed = 0; seed < plain.size(); ++seed) {
    const std::string number = std::to_string(seed);
    runs.push_back(test::synthetic_record("plain" + number, number, {plain[seed]}));
    // A point better with every seed, which spread over twenty.
    runs.push_back(
        test::synthetic_record("cached" + number, number, {plain[seed] + 0.01 + 0.0001 * static_cast<double>(seed)}));
    runs.back().recipe["model.cache.kind"] = "\"grc\"";
    runs.push_back(test::synthetic_record("noisy" + number, number, {plain[seed] + (seed == 1 ? 0.03 : -0.01)}));
    runs.back().recipe["model.cache.kind"] = "\"fifo\"";
  }
  const auto groups = grouped(runs);
  ASSERT_EQ(groups.size(), 3U);
  const report::Table table = paired_seeds_table(groups);
  ASSERT_EQ(table.rows.size(), 2U);
  const auto& cached = table.rows[0];
  EXPECT_EQ(cached[1].text, "plain0");
  EXPECT_EQ(cached[3].text, "3");
  EXPECT_EQ(cached[4].text, "+1.0");
  EXPECT_EQ(cached[5].text, "+1.0 to +1.0");
  EXPECT_EQ(cached[7].text, "") << "the seeds that there are decide";
  EXPECT_NEAR(cached[4].value, 0.0101, 1e-12);
  EXPECT_EQ(table.rows[1][4].text, "+0.3");
  EXPECT_EQ(table.rows[1][7].text, "379");
  const std::string page = report::text_table(table);
  EXPECT_NE(page.find("seeds to decide"), std::string::npos);

  runs.erase(runs.begin() + 4);  // two pairs are not evidence
  EXPECT_EQ(paired_seeds_table(grouped(runs)).rows.size(), 1U);
  runs.front().status->running = true;
  EXPECT_TRUE(paired_seeds_table({}).rows.empty());
}

}  // namespace
}  // namespace cachet::tasks
