#include "cachet/analysis/published_counts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cachet::analysis {
namespace {

// What a count is when printed with that many digits behind the point.
double rounded_to(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

TEST(PublishedCounts, AreMetToEveryPrintedDigit) {
  for (const PublishedCount& row : published_counts()) {
    const ModelSummary summary = summarize(plan_of(row), Pass::training, 0);
    const std::string name = std::string(row.model) + (row.cache_ratio ? std::string(" ") + row.cache_ratio : "");
    if (row.parameters) {
      EXPECT_DOUBLE_EQ(rounded_to(static_cast<double>(summary.parameters) / 1e6, 3), *row.parameters) << name;
    }
    ASSERT_TRUE(row.code_macs) << name;
    EXPECT_DOUBLE_EQ(rounded_to(static_cast<double>(summary.macs.linear_convolution) / 1e9, 3), *row.code_macs) << name;
  }
}

}  // namespace
}  // namespace cachet::analysis
