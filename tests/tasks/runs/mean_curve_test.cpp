#include "cachet/tasks/runs/mean_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cachet::tasks {
namespace {

TEST(MeanCurve, EndsWithItsShortestRun) {
  const train::StepCurve longer{{10, 20, 30}, {1, 2, 3}, {0.5, 0.6, 0.9}}, shorter{{10, 20}, {3, 4}, {0.7, 0.6}},
      sparse{{20, 40}, {5, 9}, {0.9, 0.9}};
  const MeanCurve two = mean_curve({longer, shorter});
  EXPECT_EQ(two.mean.steps, (std::vector<double>{10, 20}));
  EXPECT_EQ(two.mean.seconds, (std::vector<double>{2, 3}));
  EXPECT_NEAR(two.mean.values[0], 0.6, 1e-12);
  EXPECT_NEAR(two.deviation[0], 0.2 / std::sqrt(2), 1e-12);
  EXPECT_NEAR(two.deviation[1], 0, 1e-12);
  EXPECT_EQ(mean_curve({longer, shorter, sparse}).mean.steps, (std::vector<double>{20}));
  EXPECT_TRUE(mean_curve({longer, {}}).mean.steps.empty());
  EXPECT_TRUE(mean_curve({}).mean.steps.empty());
  EXPECT_EQ(mean_curve({longer}).deviation, (std::vector<double>{0, 0, 0}));
}

TEST(MeanCurve, KeepsWhatIsNotFinite) {
  const MeanCurve mean = mean_curve({{{1}, {1}, {NAN}}, {{1}, {1}, {2}}});
  EXPECT_TRUE(std::isnan(mean.mean.values.at(0)));
}

}  // namespace
}  // namespace cachet::tasks
