#include "cachet/analysis/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <utility>

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

TEST(Statistics, PairsCancelWhatTheyShare) {
  // Differences 1, 2, 3: mean 2, deviation 1.
  const PairedDifference d = paired_difference(std::array{10.0, 50.0, 90.0}, std::array{11.0, 52.0, 93.0});
  EXPECT_EQ(d.pairs, 3U);
  EXPECT_DOUBLE_EQ(d.mean, 2);
  EXPECT_DOUBLE_EQ(d.effect, 2);
  EXPECT_NEAR(d.upper - d.mean, 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(d.mean - d.lower, 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_FALSE(d.decided());
  EXPECT_TRUE(paired_difference(std::array{1.0, 2.0}, std::array{2.0, 3.0}).decided());
  EXPECT_FALSE(paired_difference(std::array{1.0, 2.0}, std::array{1.0, 2.0}).decided());
  EXPECT_THROW(paired_difference(std::array{1.0}, std::array{1.0}), std::invalid_argument);
  EXPECT_THROW(paired_difference(std::array{1.0, 2.0}, std::array{1.0}), std::invalid_argument);
}

TEST(Statistics, StudentsTIsThatOfTheTables) {
  for (const auto& [degrees, t] : std::initializer_list<std::pair<double, double>>{
           {1, 12.706}, {2.9, 4.303}, {10, 2.228}, {15, 2.1314}, {30, 2.0423}, {1000, 1.9623}})
    EXPECT_NEAR(student_t(degrees), t, 1e-3) << degrees;
}

// Of G*Power 3.1, two-sided, 5 %, 80 %.
TEST(Statistics, PairsThatDecideAreThoseOfPowerTables) {
  for (const auto& [effect, pairs] :
       std::initializer_list<std::pair<double, double>>{{0.2, 199}, {0.5, 34}, {0.8, 15}, {1, 10}, {-1, 10}})
    EXPECT_EQ(pairs_to_decide(effect), pairs) << effect;
  EXPECT_GT(pairs_to_decide(0), 1e100);
}

}  // namespace
}  // namespace cachet::analysis
