#include "cachet/report/charts/ticks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace cachet::report {
namespace {

void expect_sound(const Ticks& ticks, double least, double most, int count) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  ASSERT_EQ(ticks.positions.size(), ticks.labels.size());
  EXPECT_LE(static_cast<int>(ticks.positions.size()), count) << range;
  EXPECT_TRUE(std::is_sorted(ticks.positions.begin(), ticks.positions.end())) << range;
  EXPECT_EQ(std::set<std::string>(ticks.labels.begin(), ticks.labels.end()).size(), ticks.labels.size()) << range;
  for (double position : ticks.positions) {
    EXPECT_GE(position, least - 1e-8 * (most - least));
    EXPECT_LE(position, most + 1e-8 * (most - least));
  }
}

TEST(TicksTest, LinearTicksOfRandomRanges) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-7, 12), place(-1, 1);
  for (int round = 0; round < 3000; ++round) {
    const double range = std::pow(10, exponent(random)), least = 3 * range * place(random), most = least + range;
    const int count = 4 + round % 7;
    const Ticks ticks = linear_ticks(least, most, count);
    expect_sound(ticks, least, most, count);
    EXPECT_GE(ticks.positions.size(), 2u) << least << " to " << most << " with " << count;
    for (size_t i = 2; i < ticks.positions.size(); ++i) {
      EXPECT_NEAR(ticks.positions[i] - ticks.positions[i - 1], ticks.positions[1] - ticks.positions[0], 1e-6 * range);
    }
  }
}

TEST(TicksTest, LogarithmicTicksOfRandomRanges) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> exponent(-12, 12), decades(0.2, 14);
  for (int round = 0; round < 3000; ++round) {
    const double least = std::pow(10, exponent(random)), most = least * std::pow(10, decades(random));
    const int count = 4 + round % 6;
    const Ticks ticks = logarithmic_ticks(least, most, count);
    expect_sound(ticks, least, most, count);
    EXPECT_GE(ticks.positions.size(), 2u) << least << " to " << most << " with " << count;
  }
}

TEST(TicksTest, OfWholeNumbersAreWhole) {
  EXPECT_EQ(linear_ticks(5, 20, 7).labels[1], "7.5");
  EXPECT_EQ(linear_ticks(5, 20, 7, true).labels, (std::vector<std::string>{"5", "10", "15", "20"}));
  EXPECT_EQ(linear_ticks(0, 3, 10, true).labels, (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_EQ(linear_ticks(0, 20'000, 5, true).labels, linear_ticks(0, 20'000, 5).labels);
  EXPECT_TRUE(linear_ticks(0.2, 0.8, 5, true).labels.empty());
}

TEST(TicksTest, Labels) {
  EXPECT_EQ(linear_ticks(0, 1, 6).labels, (std::vector<std::string>{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(linear_ticks(0, 1, 5).labels, (std::vector<std::string>{"0", "0.25", "0.50", "0.75", "1.00"}));
  EXPECT_EQ(linear_ticks(0, 20'000, 5).labels, (std::vector<std::string>{"0", "5k", "10k", "15k", "20k"}));
  EXPECT_EQ(linear_ticks(0, 1e7, 5).labels[1], "2.5M");
  EXPECT_EQ(linear_ticks(-2, 2, 5).labels[0], "-2");
  EXPECT_EQ(logarithmic_ticks(0.01, 100, 5).labels, (std::vector<std::string>{"0.01", "0.1", "1", "10", "100"}));
}

TEST(TicksTest, ImpossibleRangesHaveNone) {
  for (auto [least, most] : {std::pair(1.0, 1.0), {2.0, 1.0}, {NAN, 1.0}, {0.0, INFINITY}, {-1e308, 1e308 * 1.5}}) {
    EXPECT_TRUE(linear_ticks(least, most, 5).positions.empty());
  }
  EXPECT_TRUE(logarithmic_ticks(0, 1, 5).positions.empty());
  EXPECT_TRUE(logarithmic_ticks(-1, 1, 5).positions.empty());
  EXPECT_TRUE(linear_ticks(0, 1, 0).positions.empty());
  // Neighbouring doubles and denormal numbers end, too.
  EXPECT_LE(linear_ticks(1, std::nextafter(1, 2), 5).positions.size(), 5u);
  EXPECT_LE(linear_ticks(1e15, 1e15 + 0.5, 5).positions.size(), 5u);
  EXPECT_LE(linear_ticks(0, std::numeric_limits<double>::denorm_min(), 5).positions.size(), 5u);
  EXPECT_LE(logarithmic_ticks(std::numeric_limits<double>::min(), 1e300, 5).positions.size(), 5u);
}

}  // namespace
}  // namespace cachet::report
