#include "cachet/data/order/equal_batches.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "tests/data/order/order_checks.h"

namespace cachet::data {
namespace {

TEST(EqualBatches, KeepTheContractOfOrders) {
  for (const bool drop_last : {true, false})
    for (const int64_t repeats : {1, 3})
      test::expect_keeps_the_contract([&](Shard shard) {
        const EqualBatchOptions options{.batch_size = 7, .drop_last = drop_last, .seed = 3, .repeats = repeats};
        return std::make_shared<EqualBatches>(100, options, shard);
      });
}

// What the first version of this order gave: old runs resume.
TEST(EqualBatches, AreThoseThatTheyWere) {
  const auto of = [](EqualBatchOptions options, int64_t epoch) {
    return test::fingerprint(EqualBatches(1005, options), epoch);
  };
  EXPECT_EQ(of({.batch_size = 16, .seed = 3}, 5), 0x4e9a0778e7dfd5a6u);
  EXPECT_EQ(of({.batch_size = 16, .drop_last = false, .seed = 7}, 2), 0xc8d44c59e73bf033u);
  EXPECT_EQ(of({.batch_size = 16, .seed = 3, .repeats = 3}, 5), 0xb0ea74243abbb865u);
  EXPECT_EQ(of({.batch_size = 16, .shuffle = false, .drop_last = false}, 0), 0xbf6f5c1f0cd0cd73u);
}

TEST(EqualBatches, VisitEverySampleOnceInAnOrderOfSeedAndEpoch) {
  const auto visited = [](uint64_t seed, int64_t batch_size, int64_t epoch) {
    return test::visited(EqualBatches(1000, {.batch_size = batch_size, .drop_last = false, .seed = seed}), epoch);
  };
  const auto order = visited(3, 7, 5);
  EXPECT_EQ(order, visited(3, 100, 5));
  EXPECT_NE(order, visited(3, 7, 6));
  EXPECT_NE(order, visited(4, 7, 5));
  EXPECT_NE(order, test::counted(1000));
  EXPECT_EQ(test::sorted(order), test::counted(1000));
}

TEST(EqualBatches, EvaluateInOrderAndKeepTheLastBatch) {
  const EqualBatches order(10, {.batch_size = 4, .shuffle = false, .drop_last = false});
  EXPECT_EQ(test::visited(order, 9), test::counted(10));
  ASSERT_EQ(order.batches(), 3);
  EXPECT_EQ(order.epoch(0).place(2).indices(), (std::vector<int64_t>{8, 9}));
}

TEST(EqualBatches, DropTheLastBatchOnlyWhenItIsNotFull) {
  const auto batches = [](int64_t size, bool drop_last) {
    return EqualBatches(size, {.batch_size = 4, .drop_last = drop_last}).batches();
  };
  EXPECT_EQ(batches(10, true), 2);
  EXPECT_EQ(batches(8, true), 2);
  EXPECT_EQ(batches(8, false), 2);
  EXPECT_EQ(batches(3, true), 0);
  EXPECT_EQ(batches(3, false), 1);
  EXPECT_EQ(batches(0, false), 0);
  EXPECT_EQ(EqualBatches(0, {}).epoch(0).batches(), 0);
}

TEST(EqualBatches, PartsAreNumberedAcrossProcesses) {
  const auto parts = [](int64_t rank) {
    const EqualBatchOptions options{.batch_size = 8, .shuffle = false, .drop_last = false};
    const EpochOrder epoch = EqualBatches(10, options, {.rank = rank, .world_size = 2, .parts = 2}).epoch(0);
    std::vector<std::vector<int64_t>> all;
    for (int64_t number = 0; number < epoch.batches(); ++number) all.push_back(epoch.place(number).indices());
    return all;
  };
  EXPECT_EQ(parts(0), (std::vector<std::vector<int64_t>>{{0, 4}, {2, 6}, {8}, {}}));
  EXPECT_EQ(parts(1), (std::vector<std::vector<int64_t>>{{1, 5}, {3, 7}, {9}, {}}));
  EXPECT_THROW(EqualBatches(10, {.batch_size = 3}, {.rank = 0, .world_size = 2, .parts = 2}), std::invalid_argument);
}

TEST(EqualBatches, TheLastOneIsSharedAsFarAsItReaches) {
  const auto part = [](int64_t rank) {
    const EqualBatchOptions options{.batch_size = 4, .shuffle = false, .drop_last = false};
    return EqualBatches(10, options, {rank, 4}).epoch(0).place(2).indices();
  };
  EXPECT_EQ(part(0), std::vector<int64_t>{8});
  EXPECT_EQ(part(1), std::vector<int64_t>{9});
  EXPECT_TRUE(part(2).empty());
  EXPECT_TRUE(part(3).empty());
}

TEST(EqualBatches, RepeatEachSampleInARow) {
  const EqualBatches once(11, {.batch_size = 4, .drop_last = false, .seed = 3}),
      thrice(11, {.batch_size = 4, .drop_last = false, .seed = 3, .repeats = 3});
  const auto single = test::visited(once, 5), repeated = test::visited(thrice, 5);
  ASSERT_EQ(repeated.size(), 11u) << "an epoch is as long as without";
  EXPECT_EQ(thrice.batches(), once.batches());
  for (size_t i = 0; i < repeated.size(); ++i) {
    EXPECT_EQ(repeated[i], single[i / 3]);
    EXPECT_EQ(thrice.epoch(5).place(static_cast<int64_t>(i / 4)).samples[i % 4].repetition,
              static_cast<int64_t>(i % 3));
  }
}

// 9 · 10¹⁸ samples: whatever were kept for each would not fit.
TEST(EqualBatches, TakeNoMemoryInTheOrderOfTheData) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const EqualBatches order(kMax, {.batch_size = 1000, .shuffle = false, .drop_last = false}, {1, 2});
  EXPECT_EQ(order.batches(), kMax / 1000 + 1);
  EXPECT_EQ(order.epoch(3).place(order.batches() - 1).indices().back(), kMax / 1000 * 1000 + kMax % 1000 / 2 * 2 - 1);
  EXPECT_EQ(EqualBatches(5, {.batch_size = kMax, .drop_last = false}).epoch(0).place(0).samples.size(), 5u);
}

TEST(EqualBatches, RefuseWhatCannotBe) {
  EXPECT_THROW(EqualBatches(-1, {}), std::invalid_argument);
  EXPECT_THROW(EqualBatches(10, {.batch_size = 0}), std::invalid_argument);
  EXPECT_THROW(EqualBatches(10, {.repeats = 0}), std::invalid_argument);
  EXPECT_THROW(EqualBatches(10, {.batch_size = 3}, {0, 4}), std::invalid_argument) << "a process without samples";
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
