#include "cachet/analysis/statistics/normality.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/oracle.h"

namespace cachet::analysis {
namespace {

TEST(Normality, IsTheOraclesForEveryLength) {
  const test::Oracle oracle = test::load_oracle("analysis_pnac");
  test::Comparison same("analysis_pnac");
  for (const int64_t last : oracle.metadata.at("sizes").get<std::vector<int64_t>>()) {
    const std::string length = "m" + std::to_string(last) + ".";
    int64_t normal = 0, channels = 0;
    for (int64_t layer = 0; layer < oracle.integer("layers"); ++layer) {
      const std::string name = "layer" + std::to_string(layer) + ".";
      const NormalChannels found = normal_channels(oracle[name + "statistics"], last);
      std::vector<double> k2, p;
      std::vector<int64_t> defined;
      for (const NormalityTest& test : found.tests) {
        k2.push_back(test.k2);
        p.push_back(test.defined ? test.p : 0);
        defined.push_back(test.defined ? 1 : 0);
      }
      same.close(at::tensor(k2, at::kDouble), oracle[length + name + "k2"], length + name + "k2");
      same.close(at::tensor(p, at::kDouble), oracle[length + name + "p"], length + name + "p");
      EXPECT_TRUE(at::equal(at::tensor(defined), oracle[length + name + "defined"].to(at::kLong))) << length << name;
      EXPECT_DOUBLE_EQ(found.fraction(), oracle[length + name + "share"].item<double>());
      normal += found.count();
      channels += static_cast<int64_t>(found.tests.size());
    }
    EXPECT_DOUBLE_EQ(static_cast<double>(normal) / static_cast<double>(channels),
                     oracle[length + "share"].item<double>());
  }
}

TEST(Normality, ConstantChannelsAreNotNormal) {
  const NormalChannels channels = normal_channels(at::ones({10, 2}), 8);
  EXPECT_EQ(channels.fraction(), 0);
  EXPECT_FALSE(channels.tests[0].defined);
  EXPECT_FALSE(channels.tests[0].passes());
}

// A replay of one batch without augmentation gives the same statistic in every step, but for roundings.
TEST(Normality, ChannelsThatChangeByRoundingsAreConstant) {
  at::manual_seed(1);
  const at::Tensor noise = at::randn({40, 64}), level = at::linspace(0.5, 900, 64);
  const auto normal = [](const at::Tensor& statistics) { return normal_channels(statistics, 40).fraction(); };
  EXPECT_EQ(normal(level * (1 + 6e-8F * noise)), 0);
  EXPECT_GT(normal(level * (1 + 1e-4F * noise)), 0.8) << "a small change is a change";
  EXPECT_GT(normal(level.to(at::kDouble) * (1 + 6e-8 * noise.to(at::kDouble))), 0.8) << "in float64 as well";
  EXPECT_GT(normal(1e-12F * noise), 0.8) << "a small statistic is no constant";
}

TEST(Normality, WhatIsNotFiniteIsNotNormal) {
  std::array<double, 9> values{1, 2, 3, 4, 5, 6, 7, 8, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_FALSE(dagostino_pearson(values).passes());
  values[8] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(dagostino_pearson(values).passes());
}

TEST(Normality, RefusesWhatHasNoTest) {
  EXPECT_THROW(dagostino_pearson(std::array{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}), std::invalid_argument);
  EXPECT_THROW(normal_channels(at::zeros({7, 2}), 7), std::invalid_argument);
  EXPECT_THROW(normal_channels(at::zeros({9, 2}), 10), std::invalid_argument);
  EXPECT_THROW(normal_channels(at::zeros({9}), 8), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::analysis
