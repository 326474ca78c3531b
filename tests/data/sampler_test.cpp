#include "cachet/data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace cachet::data {
namespace {

std::vector<int64_t> counted(int64_t size) {
  std::vector<int64_t> numbers(static_cast<size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Sampler, VisitsEverySampleOnceInAnOrderOfSeedAndEpoch) {
  const Sampler sampler(1000, {.batch_size = 7, .seed = 3});
  const auto order = sampler.order(5);
  EXPECT_EQ(order, Sampler(1000, {.batch_size = 100, .seed = 3}).order(5));
  EXPECT_NE(order, sampler.order(6));
  EXPECT_NE(order, Sampler(1000, {.seed = 4}).order(5));
  auto sorted = order;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, counted(1000));
  EXPECT_NE(order, sorted);
}

TEST(Sampler, EvaluatesInOrderAndKeepsTheLastBatch) {
  const Sampler sampler(10, {.batch_size = 4, .shuffle = false, .drop_last = false});
  const auto order = sampler.order(9);
  EXPECT_EQ(order, counted(10));
  ASSERT_EQ(sampler.batches(), 3);
  const auto last = sampler.batch(order, 2);
  EXPECT_EQ(std::vector<int64_t>(last.begin(), last.end()), (std::vector<int64_t>{8, 9}));
}

TEST(Sampler, DropsTheLastBatchOnlyWhenItIsNotFull) {
  const auto batches = [](int64_t size, bool drop_last) {
    return Sampler(size, {.batch_size = 4, .drop_last = drop_last}).batches();
  };
  EXPECT_EQ(batches(10, true), 2);
  EXPECT_EQ(batches(8, true), 2);
  EXPECT_EQ(batches(8, false), 2);
  EXPECT_EQ(batches(3, true), 0);
  EXPECT_EQ(batches(3, false), 1);
  EXPECT_EQ(batches(0, false), 0);
}

TEST(Sampler, BatchesAreTheOrderCutIntoPieces) {
  const Sampler sampler(23, {.batch_size = 5, .drop_last = false, .seed = 1});
  const auto order = sampler.order(0);
  std::vector<int64_t> joined;
  for (int64_t number = 0; number < sampler.batches(); ++number) {
    const auto batch = sampler.batch(order, number);
    joined.insert(joined.end(), batch.begin(), batch.end());
  }
  EXPECT_EQ(joined, order);
}

TEST(Sampler, RefusesWhatCannotBe) {
  EXPECT_THROW(Sampler(-1, {}), std::invalid_argument);
  EXPECT_THROW(Sampler(10, {.batch_size = 0}), std::invalid_argument);
  EXPECT_THROW(Sampler(10, {.repeats = 0}), std::invalid_argument);
  const Sampler sampler(10, {.batch_size = 5});
  EXPECT_THROW(sampler.batch(sampler.order(0), 2), std::out_of_range);
  EXPECT_THROW(sampler.batch(sampler.order(0), -1), std::out_of_range);
}

TEST(Sampler, RepeatsEachSampleInARow) {
  const Sampler once(11, {.batch_size = 4, .seed = 3}), thrice(11, {.batch_size = 4, .seed = 3, .repeats = 3});
  const auto single = once.order(5), repeated = thrice.order(5);
  ASSERT_EQ(repeated.size(), 11u) << "an epoch is as long as without";
  EXPECT_EQ(thrice.batches(), once.batches());
  for (size_t i = 0; i < repeated.size(); ++i) {
    EXPECT_EQ(repeated[i], single[i / 3]);
    EXPECT_EQ(thrice.repetition(static_cast<int64_t>(i)), static_cast<int64_t>(i % 3));
  }
}

TEST(Permutation, ReachesAllOrdersEquallyOften) {
  int counts[6] = {};
  constexpr int kDraws = 6000;
  for (uint64_t epoch = 0; epoch < kDraws; ++epoch) {
    const auto order = permutation(3, {1, RandomStream::permutation, epoch, 0});
    ++counts[order[0] * 2 + (order[1] > order[2] ? 1 : 0)];
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 6, 150);  // five deviations of √(6000 · 1/6 · 5/6)
}

}  // namespace
}  // namespace cachet::data
