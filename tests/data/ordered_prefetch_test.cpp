#include "cachet/data/ordered_prefetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace cachet::data {
namespace {

using std::chrono::milliseconds;

struct PrefetchShape {
  int64_t workers, ahead;
};
constexpr PrefetchShape kPrefetchShapes[] = {{0, 0}, {1, 1}, {1, 4}, {2, 2}, {3, 8}, {8, 2}};

// Later items are made faster than earlier ones, so that they are finished out of order.
int64_t slow_square(int64_t number) {
  std::this_thread::sleep_for(std::chrono::microseconds(300 * (3 - number % 4)));
  return number * number;
}

TEST(OrderedPrefetch, DeliversInOrderWhateverTheWorkers) {
  for (const auto& [workers, ahead] : kPrefetchShapes) {
    OrderedPrefetch<int64_t> items(5, 60, slow_square, workers, ahead);
    for (int64_t number = 5; number < 60; ++number) ASSERT_EQ(items.next(), number * number) << workers;
    EXPECT_EQ(items.next(), std::nullopt);
    EXPECT_EQ(items.next(), std::nullopt);
  }
}

TEST(OrderedPrefetch, IsEmptyWhereThereIsNothing) {
  for (const auto& [workers, ahead] : kPrefetchShapes) {
    OrderedPrefetch<int64_t> items(3, 3, slow_square, workers, ahead);
    EXPECT_EQ(items.next(), std::nullopt);
  }
}

TEST(OrderedPrefetch, MakesEachItemOnce) {
  std::atomic<int64_t> made[100] = {};
  OrderedPrefetch<int64_t> items(
      0, 100, [&](int64_t number) { return ++made[number]; }, 4, 7);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(items.next(), 1);
}

TEST(OrderedPrefetch, KeepsNoMoreThanAheadInFlight) {
  std::atomic<int64_t> started = 0;
  OrderedPrefetch<int64_t> items(
      0, 1000, [&](int64_t number) { return ++started, number; }, 2, 5);
  for (int64_t taken = 1; taken <= 20; ++taken) {
    ASSERT_EQ(items.next(), taken - 1);
    std::this_thread::sleep_for(milliseconds(2));
    EXPECT_LE(started.load(), taken + 5);
  }
}

TEST(OrderedPrefetch, RethrowsInThePlaceOfTheItemAndEnds) {
  const auto produce = [](int64_t number) {
    if (number == 7 || number == 9) throw std::runtime_error("item " + std::to_string(number));
    return number;
  };
  for (const auto& [workers, ahead] : kPrefetchShapes) {
    OrderedPrefetch<int64_t> items(0, 20, produce, workers, ahead);
    for (int64_t number = 0; number < 7; ++number) ASSERT_EQ(items.next(), number);
    try {
      items.next();
      FAIL() << "nothing was thrown with " << workers << " workers";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "item 7");
    }
    EXPECT_EQ(items.next(), std::nullopt);
  }
}

TEST(OrderedPrefetch, StopsEarlyAtEveryPoint) {
  for (const auto& [workers, ahead] : kPrefetchShapes) {
    for (int64_t taken = 0; taken < 12; ++taken) {
      OrderedPrefetch<int64_t> items(0, 1'000'000, slow_square, workers, ahead);
      for (int64_t i = 0; i < taken; ++i) items.next();
    }
  }
}

TEST(OrderedPrefetch, CountsTheConsumersWaiting) {
  const auto produce = [](int64_t number) {
    std::this_thread::sleep_for(milliseconds(20));
    return number;
  };
  OrderedPrefetch<int64_t> alone(0, 3, produce, 0, 1);
  EXPECT_EQ(alone.waited_seconds(), 0);
  alone.next();
  EXPECT_GE(alone.waited_seconds(), 0.02);
  std::this_thread::sleep_for(milliseconds(20));
  const double first = alone.waited_seconds();
  alone.next();
  EXPECT_GE(alone.waited_seconds(), first + 0.02);

  OrderedPrefetch<int64_t> helped(0, 3, produce, 1, 1);
  while (helped.next()) continue;
  EXPECT_GT(helped.waited_seconds(), 0);
}

}  // namespace
}  // namespace cachet::data
