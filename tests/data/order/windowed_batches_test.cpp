#include "cachet/data/order/windowed_batches.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

#include "tests/data/order/order_checks.h"

namespace cachet::data {
namespace {

const std::vector<int64_t> kShardSizes{10, 0, 25, 1, 40, 24};  // 100 samples

TEST(WindowedBatches, KeepTheContractOfOrders) {
  for (const bool drop_last : {true, false})
    for (const int64_t repeats : {1, 3})
      for (const int64_t window : {1, 13, 1000})
        test::expect_keeps_the_contract([&](Shard shard) {
          const EqualBatchOptions options{.batch_size = 7, .drop_last = drop_last, .seed = 3, .repeats = repeats};
          return std::make_shared<WindowedBatches>(kShardSizes, window, options, shard);
        });
}

TEST(WindowedBatches, VisitEverySampleOnceInAnOrderOfSeedAndEpoch) {
  const auto visited = [](uint64_t seed, int64_t batch_size, int64_t window, int64_t epoch) {
    const EqualBatchOptions options{.batch_size = batch_size, .drop_last = false, .seed = seed};
    return test::visited(WindowedBatches(kShardSizes, window, options), epoch);
  };
  for (const int64_t window : {1, 13, 100, 1000}) {
    const auto order = visited(3, 7, window, 5);
    EXPECT_EQ(order, visited(3, 20, window, 5)) << "another batch size";
    EXPECT_NE(order, visited(3, 7, window, 6)) << "another epoch";
    EXPECT_NE(order, visited(4, 7, window, 5)) << "another seed";
    EXPECT_EQ(test::sorted(order), test::counted(100));
  }
  EXPECT_NE(visited(3, 7, 13, 5), visited(3, 7, 14, 5)) << "another window";
}

// A window of one sample shows the order of the shards.
TEST(WindowedBatches, AWindowOfOneSampleKeepsShardsTogether) {
  std::set<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    const auto order = windowed_order({10, 10, 10, 10}, 1, 0, epoch);
    std::vector<int64_t> shards;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i % 10 == 0) shards.push_back(order[i] / 10);
      EXPECT_EQ(order[i], shards.back() * 10 + static_cast<int64_t>(i % 10));
    }
    EXPECT_EQ(test::sorted(shards), test::counted(4));
    orders.insert(shards);
  }
  EXPECT_GT(orders.size(), 5u);
}

TEST(WindowedBatches, AWindowReadsFewShards) {
  const std::vector<int64_t> sizes(100, 50);
  const auto order = windowed_order(sizes, 200, 7, 0);
  for (size_t begin = 0; begin < order.size(); begin += 200) {
    std::set<int64_t> shards;
    for (size_t i = begin; i < begin + 200; ++i) shards.insert(order[i] / 50);
    EXPECT_EQ(shards.size(), 4u) << begin;
  }
}

// Each sample has each position equally often: 60 is four standard deviations of a binomial variable around 100.
TEST(WindowedBatches, AWindowOfAllSamplesShufflesUniformly) {
  std::map<std::pair<int64_t, size_t>, int64_t> counts;
  for (int64_t epoch = 0; epoch < 600; ++epoch) {
    const auto order = windowed_order({2, 4}, 6, 1, epoch);
    for (size_t i = 0; i < order.size(); ++i) ++counts[{order[i], i}];
  }
  EXPECT_EQ(counts.size(), 36u);
  for (const auto& [pair, count] : counts) EXPECT_NEAR(static_cast<double>(count), 100, 40);
}

// What the first version of this order gave: old runs resume.
TEST(WindowedBatches, AreThoseThatTheyWere) {
  const auto of = [](int64_t window, EqualBatchOptions options, int64_t epoch) {
    return test::fingerprint(WindowedBatches(kShardSizes, window, options), epoch);
  };
  EXPECT_EQ(of(13, {.batch_size = 16, .seed = 3}, 5), 0xa16992431888bf8cu);
  EXPECT_EQ(of(1000, {.batch_size = 16, .drop_last = false, .seed = 7, .repeats = 2}, 2), 0xc5f0c2606a8141fu);
}

TEST(WindowedBatches, RefuseOptionsThatCannotBe) {
  EXPECT_THROW(WindowedBatches({3, -1}, 10, {.batch_size = 1}), std::invalid_argument);
  EXPECT_THROW(WindowedBatches({3}, 0, {.batch_size = 1}), std::invalid_argument);
  EXPECT_THROW(WindowedBatches({3}, 10, {.batch_size = 0}), std::invalid_argument);
  EXPECT_THROW(WindowedBatches({3}, 10, {.batch_size = 1, .repeats = 0}), std::invalid_argument);
  EXPECT_EQ(WindowedBatches({}, 10, {.batch_size = 1}).batches(), 0);
}

}  // namespace
}  // namespace cachet::data
