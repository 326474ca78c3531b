#include "cachet/data/order/grouped_batches.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

std::vector<int64_t> groups_of(int64_t samples) {
  std::vector<int64_t> groups;
  for (int64_t i = 0; i < samples; ++i) groups.push_back(i % 3 == 0 ? 1 : 0);
  return groups;
}

std::vector<std::vector<int64_t>> batches_of(const BatchOrder& order, int64_t epoch) {
  std::vector<std::vector<int64_t>> batches;
  const EpochOrder of_epoch = order.epoch(epoch);
  for (int64_t i = 0; i < of_epoch.batches(); ++i) batches.push_back(of_epoch.place(i).indices());
  return batches;
}

TEST(GroupedBatches, HaveSamplesOfOneGroup) {
  const auto groups = groups_of(23);
  const GroupedBatches order(groups, {.batch_size = 4, .drop_last = false, .seed = 3});
  EXPECT_EQ(order.batches(), 4 + 2);  // 15 and 8
  const auto batches = batches_of(order, 0);
  std::map<int64_t, int> seen;
  for (const auto& batch : batches) {
    for (const int64_t sample : batch) {
      EXPECT_EQ(groups[static_cast<size_t>(sample)], groups[static_cast<size_t>(batch[0])]);
      ++seen[sample];
    }
  }
  EXPECT_EQ(seen.size(), 23u);
  for (const auto& [sample, count] : seen) EXPECT_EQ(count, 1) << sample;
  EXPECT_EQ(batches, batches_of(order, 0));
  EXPECT_NE(batches, batches_of(order, 1));
  EXPECT_NE(batches, batches_of(GroupedBatches(groups, {.batch_size = 4, .drop_last = false, .seed = 4}), 0));
}

TEST(GroupedBatches, AreWholeWhereTheLastIsDropped) {
  const GroupedBatches order(groups_of(23), {.batch_size = 4});
  EXPECT_EQ(order.batches(), 3 + 2);
  for (const auto& batch : batches_of(order, 0)) EXPECT_EQ(batch.size(), 4u);
  // A group that is smaller than a batch is seen all the same.
  const GroupedBatches small({0, 0, 0, 0, 1}, {.batch_size = 2});
  EXPECT_EQ(small.batches(), 3);
}

TEST(GroupedBatches, KeepTheDatasOrderWithoutShuffling) {
  const GroupedBatches order({1, 0, 1, 0, 1}, {.batch_size = 2, .shuffle = false, .drop_last = false});
  EXPECT_EQ(batches_of(order, 5), (std::vector<std::vector<int64_t>>{{1, 3}, {0, 2}, {4}}));
}

TEST(GroupedBatches, AreSharedAmongProcesses) {
  const auto groups = groups_of(40);
  const GroupedBatches whole(groups, {.batch_size = 4, .seed = 1});
  const GroupedBatches first(groups, {.batch_size = 4, .seed = 1}, {0, 2}),
      second(groups, {.batch_size = 4, .seed = 1}, {1, 2});
  const auto all = batches_of(whole, 2), of_first = batches_of(first, 2), of_second = batches_of(second, 2);
  ASSERT_EQ(all.size(), of_first.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(of_first[i], (std::vector<int64_t>{all[i][0], all[i][2]}));
    EXPECT_EQ(of_second[i], (std::vector<int64_t>{all[i][1], all[i][3]}));
  }
}

TEST(GroupedBatches, RefuseWhatCannotBe) {
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([] {
              GroupedBatches({0, -1}, {});
            }),
            "a sample cannot belong to group -1");
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([] {
              GroupedBatches({0, 7}, {});
            }),
            "a sample cannot belong to group 7");
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([] { GroupedBatches({0}, {.batch_size = 0}); }),
            "the batch size is 0; it must be at least 1");
}

}  // namespace
}  // namespace cachet::data
