#include "cachet/analysis/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

namespace cachet::analysis {
namespace {

void expect_quartiles(const Quartiles& q, double lower, double median, double upper) {
  EXPECT_DOUBLE_EQ(q.lower, lower);
  EXPECT_DOUBLE_EQ(q.median, median);
  EXPECT_DOUBLE_EQ(q.upper, upper);
}

TEST(Statistics, QuartilesInterpolateBetweenSortedValues) {
  expect_quartiles(quartiles(std::array{7.0}), 7, 7, 7);
  expect_quartiles(quartiles(std::array{4.0, 2.0}), 2.5, 3, 3.5);
  expect_quartiles(quartiles(std::array{5.0, 1.0, 4.0, 2.0, 3.0}), 2, 3, 4);
  expect_quartiles(quartiles(std::array{4.0, 1.0, 3.0, 2.0}), 1.75, 2.5, 3.25);
  EXPECT_THROW(quartiles({}), std::invalid_argument);
}

TEST(Statistics, RatiosAreTakenPairByPair) {
  // A machine that is ten times slower for the last pair does not move the ratio.
  expect_quartiles(ratio_of_pairs(std::array{2.0, 4.0, 40.0}, std::array{1.0, 2.0, 20.0}), 2, 2, 2);
  EXPECT_THROW(ratio_of_pairs(std::array{1.0}, std::array{1.0, 2.0}), std::invalid_argument);
  EXPECT_THROW(ratio_of_pairs({}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::analysis
