#include "cachet/train/profile/work_times.h"

#include <gtest/gtest.h>

#include <random>

namespace cachet::train {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kSumRounding = 1e-15;  // of sums of times below 1e-5 s

const WorkTime& find(const std::vector<WorkTime>& times, const std::string& name) {
  for (const WorkTime& time : times)
    if (time.name == name) return time;
  ADD_FAILURE() << "no " << name;
  return times.front();
}

void expect_time(const WorkTimes& times, const std::string& name, double nanoseconds, double calls) {
  const WorkTime& time = find(times.names, name);
  EXPECT_NEAR(time.seconds, kNanosecond * nanoseconds, kSumRounding) << name;
  EXPECT_EQ(time.calls, calls) << name;
}

double sum(const std::vector<WorkTime>& times) {
  double seconds = 0;
  for (const WorkTime& time : times) seconds += time.seconds;
  return seconds;
}

TEST(WorkTimes, TheTimeOfAnOperatorLeavesOutWhatItCalls) {
  // linear 100 … 200 calls addmm 110 … 190, which calls copy_ 120 … 130; relu 250 … 300.
  const WorkTimes times = work_times({{"aten::linear", 100, 200, 1},
                                      {"aten::addmm", 110, 190, 1},
                                      {"aten::copy_", 120, 130, 1},
                                      {"aten::relu", 250, 300, 1}},
                                     ActivityKind::operators, 0, 1000);
  expect_time(times, "aten::linear", 20, 1);
  expect_time(times, "aten::addmm", 70, 0);  // called by a product
  expect_time(times, "aten::copy_", 10, 1);
  expect_time(times, "aten::relu", 50, 1);
  EXPECT_NEAR(times.busy_seconds, kNanosecond * 150, kSumRounding);
  ASSERT_EQ(times.families.size(), 3U);
  EXPECT_EQ(times.families[0].family, KernelFamily::products);
  EXPECT_NEAR(times.families[0].seconds, kNanosecond * 90, kSumRounding);
  EXPECT_EQ(times.families[0].calls, 1);
  EXPECT_EQ(times.families[1].family, KernelFamily::elementwise);
  EXPECT_EQ(times.families[2].family, KernelFamily::copies);
  EXPECT_EQ(times.names[0].name, "aten::addmm") << "the longest comes first";
}

TEST(WorkTimes, CallsThatBeginTogetherAreOrderedByLength) {
  const WorkTimes times = work_times({{"aten::mm", 10, 20, 1}, {"MmBackward0", 10, 40, 1}, {"aten::mm", 40, 45, 1}},
                                     ActivityKind::operators, 0, 100);
  expect_time(times, "aten::mm", 15, 2);
  expect_time(times, "MmBackward0", 20, 1);
}

TEST(WorkTimes, TimelinesThatWorkTogetherShareTheTime) {
  const WorkTimes times = work_times({{"volta_sgemm_32x128_tn", 0, 100, 7},
                                      {"Memcpy HtoD (Pinned -> Device)", 40, 60, 13},
                                      {"volta_sgemm_32x128_tn", 100, 120, 7}},
                                     ActivityKind::kernels, 0, 200);
  expect_time(times, "volta_sgemm_32x128_tn", 110, 2);
  expect_time(times, "Memcpy HtoD (Pinned -> Device)", 10, 1);
  EXPECT_NEAR(times.busy_seconds, kNanosecond * 120, kSumRounding);
  EXPECT_NEAR(sum(times.families), times.busy_seconds, kSumRounding);
}

TEST(WorkTimes, KernelsOfOneStreamThatOverlapAreAllCounted) {
  const WorkTimes times = work_times({{"nvjet_a", 0, 50, 7}, {"nvjet_b", 40, 60, 7}, {"nvjet_c", 45, 48, 7}},
                                     ActivityKind::kernels, 0, 100);
  EXPECT_NEAR(times.busy_seconds, kNanosecond * 60, kSumRounding);
  ASSERT_EQ(times.families.size(), 1U);
  EXPECT_EQ(times.families[0].calls, 3);
}

TEST(WorkTimes, OnlyTheWindowCounts) {
  const WorkTimes times =
      work_times({{"a", 0, 20, 1}, {"b", 50, 50, 1}, {"c", 90, 120, 1}, {"d", 100, 110, 1}, {"e", 0, 5, 1}},
                 ActivityKind::kernels, 10, 100);
  expect_time(times, "a", 10, 0);  // began before
  expect_time(times, "b", 0, 1);   // without a duration
  expect_time(times, "c", 10, 1);
  EXPECT_EQ(times.names.size(), 3U);
  EXPECT_NEAR(times.busy_seconds, kNanosecond * 20, kSumRounding);
}

TEST(WorkTimes, NothingHasNoTime) {
  const WorkTimes times = work_times({}, ActivityKind::kernels, 0, 100);
  EXPECT_EQ(times.busy_seconds, 0);
  EXPECT_TRUE(times.families.empty());
}

/// The busy time is counted moment by moment here.
TEST(WorkTimes, TimesSumToTheBusyTime) {
  std::mt19937 random(3);
  const auto below = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint32_t>(most)); };
  constexpr int64_t kEnd = 1000;
  const std::vector<std::string> names{"aten::mm", "aten::add", "aten::sum", "aten::view", "cachet::grc_update"};
  for (int round = 0; round < 20; ++round) {
    std::vector<Activity> activities;
    std::vector<bool> busy(kEnd);
    for (int i = 0; i < 60; ++i) {
      const int64_t begin = below(kEnd), end = std::min(kEnd, begin + below(40));
      activities.push_back({names[static_cast<size_t>(below(5))], begin, end, below(3)});
      for (int64_t t = begin; t < end; ++t) busy[static_cast<size_t>(t)] = true;
    }
    for (const ActivityKind kind : {ActivityKind::operators, ActivityKind::kernels}) {
      const WorkTimes times = work_times(activities, kind, 0, kEnd);
      EXPECT_NEAR(times.busy_seconds, kNanosecond * static_cast<double>(std::ranges::count(busy, true)), kSumRounding);
      EXPECT_NEAR(sum(times.families), times.busy_seconds, kSumRounding);
      EXPECT_NEAR(sum(times.names), times.busy_seconds, kSumRounding);
    }
  }
}

}  // namespace
}  // namespace cachet::train
