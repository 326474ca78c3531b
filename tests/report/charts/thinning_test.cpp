#include "cachet/report/charts/thinning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "cachet/report/charts/axis.h"

namespace cachet::report {
namespace {

Series noise(size_t length, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Series series{"noise", {}, {}};
  for (size_t i = 0; i < length; ++i) {
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(normal(random));
  }
  return series;
}

TEST(ThinningTest, ExtremesAndEndsSurvive) {
  for (size_t length : {5u, 100u, 101u, 999u, 100'000u}) {
    for (size_t bound : {4u, 5u, 64u, 901u}) {
      const Series series = noise(length, static_cast<unsigned>(length));
      const auto points = drawn_series(series, bound).points;
      EXPECT_LE(points.size(), std::max<size_t>(bound, 4));
      EXPECT_EQ(points.size(), std::min(points.size(), length));
      const auto [least, most] = std::minmax_element(series.y.begin(), series.y.end());
      const auto has = [&](double y) {
        return std::any_of(points.begin(), points.end(), [&](Point p) { return p.y == y; });
      };
      EXPECT_TRUE(has(*least) && has(*most)) << length << " to " << bound;
      EXPECT_EQ(points.front().x, 0);
      EXPECT_EQ(points.back().x, static_cast<double>(length - 1));
      EXPECT_TRUE(std::is_sorted(points.begin(), points.end(), [](Point a, Point b) { return a.x < b.x; }));
    }
  }
}

TEST(ThinningTest, ShortSeriesStayWhole) {
  const Series series = noise(60, 1);
  const DrawnSeries drawn = drawn_series(series, 60);
  ASSERT_EQ(drawn.points.size(), 60u);
  for (size_t i = 0; i < 60; ++i) EXPECT_EQ(drawn.points[i].y, series.y[i]);
}

TEST(ThinningTest, WhatIsNotFiniteBreaksTheLine) {
  const Series series{"", {0, 1, 2, 3, INFINITY, 5}, {1, NAN, 2, -INFINITY, 3, 4, 99}};
  const DrawnSeries drawn = drawn_series(series, 100);
  ASSERT_EQ(drawn.points.size(), 3u);
  EXPECT_EQ(drawn.missing_count, 3u);
  EXPECT_EQ(drawn.missing, (std::vector<double>{1, 3}));
  for (const Point& point : drawn.points) EXPECT_TRUE(point.starts);
}

TEST(ThinningTest, GapsSurvive) {
  Series series = noise(10'000, 3);
  for (size_t i : {2000u, 5000u, 8000u}) series.y[i] = NAN;
  const DrawnSeries drawn = drawn_series(series, 50);
  EXPECT_EQ(std::count_if(drawn.points.begin(), drawn.points.end(), [](Point p) { return p.starts; }), 4);
}

TEST(ThinningTest, MarksAreBounded) {
  Series series = noise(10'000, 4);
  for (double& y : series.y) y = NAN;
  const DrawnSeries drawn = drawn_series(series, 50);
  EXPECT_TRUE(drawn.points.empty());
  EXPECT_EQ(drawn.missing_count, 10'000u);
  EXPECT_LE(drawn.missing.size(), 60u);
  EXPECT_EQ(drawn.missing.back(), 9999);
}

TEST(ThinningTest, OnlyNoiseIsNoisy) {
  EXPECT_TRUE(drawn_series(noise(1000, 5), 900).noisy);
  Series smooth = noise(1000, 6);
  for (size_t i = 0; i < 1000; ++i) smooth.y[i] = std::sin(0.006 * static_cast<double>(i));
  EXPECT_FALSE(drawn_series(smooth, 900).noisy);
  for (double& y : smooth.y) y = 1;
  EXPECT_FALSE(drawn_series(smooth, 900).noisy);
}

TEST(AxisTest, RangesHoldAllPointsAndAreNeverEmpty) {
  for (const std::vector<double>& y : std::vector<std::vector<double>>{
           {}, {0}, {5, 5}, {-3, 7}, {1e-300, 1e300}, {-1.7e308, 1.7e308}, {1e308}, {1e-310}}) {
    std::vector<double> x(y.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
    const std::vector<DrawnSeries> series = {drawn_series({"", x, y}, 100)};
    for (bool from_zero : {false, true}) {
      const Axis axis = y_axis(series, false, from_zero);
      EXPECT_LT(axis.least, axis.most);
      EXPECT_TRUE(std::isfinite(axis.most - axis.least));
      if (from_zero && !y.empty()) {
        EXPECT_LE(axis.least, 0);
        EXPECT_GE(axis.most, 0);
      }
    }
    EXPECT_LT(x_axis(series).least, x_axis(series).most);
    const Axis logarithmic = y_axis({drawn_series({"", x, y}, 100, true)}, true, false);
    EXPECT_GT(logarithmic.least, 0);
    EXPECT_LT(logarithmic.least, logarithmic.most);
  }
}

TEST(AxisTest, LogarithmicPlaces) {
  const Axis axis{0.01, 100, true, 0, 40};
  EXPECT_NEAR(axis.at(1), 20, 1e-9);
  EXPECT_NEAR(axis.at(0.1), 10, 1e-9);
}

}  // namespace
}  // namespace cachet::report
