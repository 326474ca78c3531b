#include "cachet/tasks/runs/group_curves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cachet/tasks/runs/run_groups.h"
#include "tests/tasks/runs/synthetic_runs.h"

namespace cachet::tasks {
namespace {

using train::Event;

TEST(GroupCurves, HaveBandsOfSeedsOverStepsAndTime) {
  RunRecord alone = test::synthetic_record("alone", "0", {0.4, 0.5});
  alone.recipe["model.name"] = "\"pvt\"";
  const auto groups =
      grouped({test::synthetic_record("a", "0", {0.6, 0.7, 0.8}), test::synthetic_record("b", "1", {0.8, 0.9}), alone});
  const auto curves = group_curves(groups);
  ASSERT_EQ(curves.size(), 2U);
  const report::Curve &steps = curves[0].at(0), &loss = curves[0].at(1);
  EXPECT_EQ(steps.chart, "Top-1 on the test images");
  EXPECT_EQ(steps.x_label, "step");
  EXPECT_EQ(steps.series.x, (std::vector<double>{10, 20}));
  EXPECT_NEAR(steps.series.y[0], 0.7, 1e-12);
  EXPECT_NEAR(steps.series.deviation.at(1), 0.2 / std::sqrt(2), 1e-12);
  EXPECT_EQ(loss.chart, "Loss on the test images");
  EXPECT_TRUE(curves[1].at(0).series.deviation.empty()) << "a run alone has no band";
  const auto time = std::ranges::find(curves[0], "Over time", &report::Curve::section);
  ASSERT_NE(time, curves[0].end());
  EXPECT_EQ(time->x_label, "seconds");
  EXPECT_EQ(time->series.x, (std::vector<double>{11, 21}));
}

TEST(GroupCurves, AreNotDrawnOfWhatIsTheSameAtEachEvaluation) {
  RunRecord run = test::synthetic_record("a", "0", {0.5, 0.6});
  ASSERT_EQ(run.description.metrics.front().name, "top1");
  const auto charts_of_accuracy = [&] {
    return std::ranges::count(group_curves(grouped({run})).at(0), "Top-1 on the test images", &report::Curve::chart);
  };
  EXPECT_GT(charts_of_accuracy(), 0);
  run.description.metrics.front().constant = true;
  EXPECT_EQ(charts_of_accuracy(), 0);
}

TEST(GroupCurves, ReadTheTimeOfOlderRunsFromTheirStepLines) {
  RunRecord run = test::synthetic_record("a", "0", {0.5, 0.6});
  for (Event& event : run.events) {
    if (event.kind == Event::Kind::evaluation)
      event.machine = {};
    else
      event.machine.set("seconds", 3600.0 * static_cast<double>(event.step));
  }
  const auto curves = group_curves(grouped({run}));
  const auto time = std::ranges::find(curves[0], "Over time", &report::Curve::section);
  EXPECT_EQ(time->x_label, "hours");
  EXPECT_EQ(time->series.x, (std::vector<double>{10, 20}));
}

}  // namespace
}  // namespace cachet::tasks
