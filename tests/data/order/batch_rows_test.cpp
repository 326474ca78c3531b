#include "cachet/data/order/batch_rows.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "tests/data/order/order_checks.h"

namespace cachet::data {
namespace {

// The published code's way (LMOrderedIterator): tokens are cut to n · lanes of them, reshaped to (lanes, n), and batch
// i has the columns from i · segment on, whose targets are one column further.
std::vector<std::vector<int64_t>> published_batch(int64_t tokens, int64_t batch_rows, int64_t segment, int64_t number) {
  const int64_t steps = tokens / batch_rows, first = number * segment;
  const int64_t length = std::min(segment, steps - 1 - first);
  std::vector<std::vector<int64_t>> rows;
  for (int64_t batch_row = 0; batch_row < batch_rows; ++batch_row) {
    std::vector<int64_t>& row = rows.emplace_back();
    for (int64_t i = 0; i < length; ++i) row.push_back(batch_row * steps + first + i);
  }
  return rows;
}

TEST(BatchRows, KeepTheContractOfOrders) {
  test::expect_keeps_the_contract([](Shard shard) {
    return std::make_shared<BatchRows>(1003, BatchRowOptions{.batch_rows = 7, .segment_length = 10}, shard);
  });
}

TEST(BatchRows, AreTransformerXLs) {
  for (const int64_t tokens : {100, 101, 109, 110, 120}) {
    for (const int64_t segment : {1, 4, 9, 10, 50}) {
      const BatchRows order(tokens, {.batch_rows = 10, .segment_length = segment});
      const int64_t targets = tokens / 10 - 1;
      ASSERT_EQ(order.batches(), (targets + segment - 1) / segment) << tokens << " " << segment;
      for (int64_t number = 0; number < order.batches(); ++number) {
        std::vector<std::vector<int64_t>> rows;
        for (const int64_t sample : order.epoch(0).place(number).indices()) {
          const TokenRange range = order.segment(sample);
          std::vector<int64_t>& row = rows.emplace_back();
          for (int64_t i = 0; i < range.length; ++i) row.push_back(range.begin + i);
        }
        EXPECT_EQ(rows, published_batch(tokens, 10, segment, number)) << tokens << " " << segment << " " << number;
      }
    }
  }
}

TEST(BatchRows, OfAShardGoOnWhereTheyEnded) {
  for (int64_t rank = 0; rank < 3; ++rank) {
    const BatchRows order(1003, {.batch_rows = 8, .segment_length = 10}, {rank, 3});
    std::vector<int64_t> next;
    for (int64_t number = 0; number < order.batches(); ++number) {
      const auto batch = order.epoch(2).place(number).indices();
      if (number == 0) {
        for (const int64_t sample : batch) next.push_back(order.segment(sample).begin);
      }
      ASSERT_EQ(batch.size(), next.size());
      for (size_t batch_row = 0; batch_row < batch.size(); ++batch_row) {
        const TokenRange range = order.segment(batch[batch_row]);
        EXPECT_EQ(range.begin, next[batch_row]);
        next[batch_row] += range.length;
      }
    }
  }
}

TEST(BatchRows, EpochsAreEqual) {
  const BatchRows order(1003, {.batch_rows = 7, .segment_length = 10});
  EXPECT_EQ(test::visited(order, 0), test::visited(order, 9));
  EXPECT_EQ(test::sorted(test::visited(order, 0)), test::counted(order.samples()));
}

TEST(BatchRows, TakeNoMemory) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const BatchRows order(kMax, {.batch_rows = 60, .segment_length = 150}, {59, 60});
  const auto last = order.epoch(0).place(order.batches() - 1).indices();
  ASSERT_EQ(last.size(), 1u);
  const TokenRange range = order.segment(last[0]);
  EXPECT_EQ(range.begin + range.length, kMax / 60 * 60 - 1) << "the target of the last is the lane's last token";
  EXPECT_EQ(BatchRows(100, {.batch_rows = 10, .segment_length = kMax}).batches(), 1);
}

TEST(BatchRows, ShortSequencesHaveNoBatches) {
  for (const int64_t tokens : {0, 1, 10, 19}) {
    const BatchRows order(tokens, {.batch_rows = 10, .segment_length = 5});
    EXPECT_EQ(order.batches(), 0) << tokens;
    EXPECT_EQ(order.samples(), 0);
    EXPECT_THROW(order.segment(0), std::out_of_range);
  }
  EXPECT_EQ(BatchRows(20, {.batch_rows = 10, .segment_length = 5}).batches(), 1);
}

TEST(BatchRows, RefuseWhatCannotBe) {
  EXPECT_THROW(BatchRows(-1, {}), std::invalid_argument);
  EXPECT_THROW(BatchRows(100, {.batch_rows = 0}), std::invalid_argument);
  EXPECT_THROW(BatchRows(100, {.segment_length = 0}), std::invalid_argument);
  EXPECT_THROW(BatchRows(100, {.batch_rows = 2}, {0, 3}), std::invalid_argument) << "a process without lanes";
}

}  // namespace
}  // namespace cachet::data
