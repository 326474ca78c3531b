#include "cachet/report/text/remaining_time.h"

#include <gtest/gtest.h>

namespace cachet::report {
namespace {

TEST(RemainingTimeTest, SteadyWorkIsForeseenExactly) {
  RemainingTime remaining;
  EXPECT_FALSE(remaining.seconds(0));
  for (int step = 0; step <= 100; ++step) remaining.update(step, 1000, 0.5 * step);
  EXPECT_NEAR(*remaining.seconds(50), 450, 1e-6);
  EXPECT_NEAR(*remaining.seconds(53), 447, 1e-6);  // it counts down between updates
}

TEST(RemainingTimeTest, AResumedRunDoesNotCountWhatItDidBefore) {
  RemainingTime remaining;
  remaining.update(900, 1000, 0);
  EXPECT_FALSE(remaining.seconds(0));
  remaining.update(901, 1000, 2);
  EXPECT_NEAR(*remaining.seconds(2), 198, 1e-6);
}

TEST(RemainingTimeTest, PausesCountAndOneSlowStepDoesNotRule) {
  RemainingTime remaining;
  double now = 0;
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (int step = 0; step < 60; ++step) remaining.update(epoch * 60 + step, 1200, now += 1);
    now += 30;  // evaluation: half as long again
  }
  EXPECT_NEAR(*remaining.seconds(now - 30), 601 * 1.5, 0.1 * 900);
}

TEST(RemainingTimeTest, NewSpeedWinsInTheEnd) {
  RemainingTime remaining;
  double now = 0;
  int step = 0;
  for (; step < 100; ++step) remaining.update(step, 10'000, now += 1);
  for (; step < 5000; ++step) remaining.update(step, 10'000, now += 0.1);
  EXPECT_NEAR(*remaining.seconds(now), 500, 100);
}

TEST(RemainingTimeTest, GoingBackStartsAnew) {
  RemainingTime remaining;
  remaining.update(5, 10, 1);
  remaining.update(6, 10, 2);
  remaining.update(0, 10, 3);
  EXPECT_FALSE(remaining.seconds(3));
}

}  // namespace
}  // namespace cachet::report
