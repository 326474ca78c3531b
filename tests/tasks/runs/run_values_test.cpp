#include "cachet/tasks/runs/run_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "cachet/tasks/runs/run_groups.h"
#include "tests/tasks/runs/synthetic_runs.h"

namespace cachet::tasks {
namespace {

using train::Event;

TEST(RunValues, AreMeansAndBestsOverSeeds) {
  const auto groups =
      grouped({test::synthetic_record("a", "0", {0.8, 0.7}), test::synthetic_record("b", "1", {0.6, 0.9})});
  const std::vector<RunValue> alone = run_values(groups.at(0).runs[0]), all = group_values(groups[0]);
  EXPECT_EQ(test::value_of(alone, "top-1").value, 0.7);
  EXPECT_EQ(test::value_of(alone, "top-1").spread, 0.01);
  EXPECT_EQ(test::value_of(alone, "best top-1").value, 0.8);
  EXPECT_EQ(test::value_of(alone, "training top-1").value, 0.25);
  EXPECT_TRUE(test::value_of(alone, "top-1").decides);
  EXPECT_NEAR(test::value_of(all, "top-1").value, 0.8, 1e-12);
  EXPECT_NEAR(test::value_of(all, "top-1").spread, 0.2 / std::sqrt(2), 1e-12);
  EXPECT_EQ(test::value_of(all, "best top-1").value, 0.9);
  EXPECT_EQ(shown(test::value_of(all, "top-1")).cell.text, "80 ± 14 %");
  EXPECT_EQ(shown(test::value_of(all, "parameters")).cell.text, "1.00 k") << "the same in every run";
  EXPECT_NEAR(test::value_of(all, "loss").value, 0.2, 1e-12);
}

TEST(RunValues, KnowNoBestOfWhatTheyDoNotKnow) {
  RunRecord run = test::synthetic_record("a", "0", {});
  Event event{Event::Kind::evaluation, 3, 1, {{"bleu", 27.3}, {"chrf", 0.00012345}}, {}, {}};
  run.events = {event};
  const std::vector<RunValue> values = run_values(run);
  EXPECT_EQ(shown(test::value_of(values, "bleu")).cell.text, "27.3");
  EXPECT_EQ(shown(test::value_of(values, "chrf")).cell.text, "0.00012345");
  EXPECT_THROW(test::value_of(values, "best bleu"), std::out_of_range);
  run.events.front().metrics = {{"perplexity", 8}, {"loss", 2}};
  EXPECT_THROW(test::value_of(run_values(run), "best loss"), std::out_of_range)
      << "the loss decides where a task says so";
  run.description.metrics = {{"perplexity", "perplexity", report::ValueForm::number, report::Better::lower, true}};
  EXPECT_EQ(test::value_of(run_values(run), "best perplexity").value, 8);
  EXPECT_TRUE(test::value_of(run_values(run), "perplexity").decides);
}

}  // namespace
}  // namespace cachet::tasks
