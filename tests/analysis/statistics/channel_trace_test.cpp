#include "cachet/analysis/statistics/channel_trace.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace cachet::analysis {
namespace {

std::vector<at::Tensor> two_channels() {
  std::vector<at::Tensor> steps;
  for (const double value : {1.0, 4.0, 16.0, 1.0}) steps.push_back(at::tensor({10.0 + value / 16, value}, at::kDouble));
  return steps;
}

TEST(ChannelTrace, MeansOverTheWindowThatEndsAtEachStep) {
  const ChannelTrace trace = channel_trace(two_channels(), 1, 2);
  EXPECT_EQ(trace.statistic, (std::vector<double>{1, 4, 16, 1}));
  EXPECT_EQ(trace.arithmetic, (std::vector<double>{1, 2.5, 10, 8.5}));
  const std::vector<double> geometric{1, 2, 8, 4};
  for (size_t step = 0; step < 4; ++step) EXPECT_NEAR(trace.geometric[step], geometric[step], 1e-12);
}

TEST(ChannelTrace, HasNoGeometricMeanOfWhatIsNotPositive) {
  const std::vector<at::Tensor> steps{at::tensor({1.0}), at::tensor({-1.0}), at::tensor({2.0}), at::tensor({3.0})};
  const ChannelTrace trace = channel_trace(steps, 0, 2);
  EXPECT_EQ(trace.geometric[0], 1);
  EXPECT_TRUE(std::isnan(trace.geometric[1]));
  EXPECT_TRUE(std::isnan(trace.geometric[2]));
  EXPECT_TRUE(std::isfinite(trace.geometric[3]));
  EXPECT_EQ(trace.arithmetic[1], 0);
  EXPECT_THROW(channel_trace(steps, 0, 0), std::invalid_argument);
}

TEST(ChannelTrace, ChannelsAreOrderedByTheirFluctuation) {
  EXPECT_EQ(channels_by_fluctuation(two_channels()), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(channels_by_fluctuation({at::tensor({0.0, 5.0, 1.0}), at::tensor({0.0, 6.0, 9.0})}),
            (std::vector<int64_t>{0, 1, 2}));
  EXPECT_THROW(channels_by_fluctuation({}), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::analysis
