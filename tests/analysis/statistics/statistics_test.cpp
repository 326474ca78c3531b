#include "cachet/analysis/statistics/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "tests/support/bytes.h"
#include "tests/support/test_data.h"

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
  EXPECT_NEAR(d.upper - d.mean, 4.302652729749462 / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(d.mean - d.lower, 4.302652729749462 / std::sqrt(3.0), 1e-12);
  // Equal but for rounding: the effect has no number.
  EXPECT_EQ(paired_difference(std::array{0.1, 0.2, 0.3}, std::array{0.2, 0.3, 0.4}).effect, INFINITY);
  EXPECT_EQ(paired_difference(std::array{0.2, 0.3, 0.4}, std::array{0.1, 0.2, 0.3}).effect, -INFINITY);
  EXPECT_FALSE(d.decided());
  EXPECT_TRUE(paired_difference(std::array{1.0, 2.0}, std::array{2.0, 3.0}).decided());
  EXPECT_FALSE(paired_difference(std::array{1.0, 2.0}, std::array{1.0, 2.0}).decided());
  EXPECT_THROW(paired_difference(std::array{1.0}, std::array{1.0}), std::invalid_argument);
  EXPECT_THROW(paired_difference(std::array{1.0, 2.0}, std::array{1.0}), std::invalid_argument);
}

// As SciPy computes them: tools/make_statistics_fixtures.py.
class RecordedStatistics : public testing::Test {
 protected:
  const nlohmann::json recorded_ = nlohmann::json::parse(test::read_bytes(test::test_data() + "/statistics.json"));
};

TEST_F(RecordedStatistics, StudentsT) {
  ASSERT_GE(recorded_["students_t"].size(), 10U);
  for (const auto& each : recorded_["students_t"])
    EXPECT_NEAR(student_t(each[0]), each[1].get<double>(), 1e-9 * each[1].get<double>()) << each;
}

TEST_F(RecordedStatistics, PairsThatDecide) {
  ASSERT_GE(recorded_["pairs_to_decide"].size(), 10U);
  for (const auto& each : recorded_["pairs_to_decide"]) EXPECT_EQ(pairs_to_decide(each[0]), each[1]) << each;
  EXPECT_GT(pairs_to_decide(0), 1e100);
  EXPECT_GT(pairs_to_decide(1e-9), 1e100);
  EXPECT_EQ(pairs_to_decide(-1e300), 2);
  EXPECT_EQ(pairs_to_decide(INFINITY), 2);
}

TEST_F(RecordedStatistics, PairedDifferences) {
  ASSERT_GE(recorded_["pairs"].size(), 20U);
  for (const auto& each : recorded_["pairs"]) {
    const auto before = each["before"].get<std::vector<double>>(), after = each["after"].get<std::vector<double>>();
    const PairedDifference difference = paired_difference(before, after);
    EXPECT_NEAR(difference.lower, each["lower"].get<double>(), 1e-10) << each;
    EXPECT_NEAR(difference.upper, each["upper"].get<double>(), 1e-10) << each;
  }
}

}  // namespace
}  // namespace cachet::analysis
