#include "cachet/data/order/length_buckets.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <stdexcept>

#include "tests/data/order/order_checks.h"

namespace cachet::data {
namespace {

// Samples that a batch of equal lengths would hold besides its own: the sum over batches of longest × count − lengths.
int64_t padded_places(const BatchOrder& order, const std::vector<int64_t>& lengths, int64_t epoch) {
  int64_t places = 0;
  const EpochOrder batches = order.epoch(epoch);
  for (int64_t number = 0; number < order.batches(); ++number) {
    int64_t longest = 0, sum = 0;
    const auto batch = batches.place(number).indices();
    for (const int64_t i : batch) {
      longest = std::max(longest, lengths[static_cast<size_t>(i)]);
      sum += lengths[static_cast<size_t>(i)];
    }
    places += longest * static_cast<int64_t>(batch.size()) - sum;
  }
  return places;
}

TEST(LengthBuckets, KeepTheContractOfOrders) {
  const Lengths lengths = test::drawn_lengths(100);
  for (const bool drop_last : {true, false})
    test::expect_keeps_the_contract([&](Shard shard) {
      return std::make_shared<LengthBuckets>(
          lengths, EqualBatchOptions{.batch_size = 7, .drop_last = drop_last, .seed = 3}, 4, shard);
    });
}

// What the first version of this order gave: old runs resume.
TEST(LengthBuckets, AreThoseThatTheyWere) {
  const auto of = [](EqualBatchOptions options, int64_t bucket_batches, int64_t epoch) {
    return test::fingerprint(LengthBuckets(test::drawn_lengths(1005), options, bucket_batches), epoch);
  };
  EXPECT_EQ(of({.batch_size = 16, .seed = 3}, 20, 5), 0xe92cda2e08dde0d0u);
  EXPECT_EQ(of({.batch_size = 16, .drop_last = false, .seed = 3}, 50, 4), 0x99cf5285800defe5u);
  EXPECT_EQ(of({.batch_size = 16, .shuffle = false, .drop_last = false}, 50, 0), 0x24fbc40e3ca6859bu);
}

TEST(LengthBuckets, BatchesHoldSamplesOfLikeLengths) {
  const Lengths lengths = test::drawn_lengths(1005);
  const EqualBatchOptions options{.batch_size = 10, .seed = 2};
  const EqualBatches plain(1005, options);
  const LengthBuckets buckets(lengths, options, 20);
  EXPECT_LT(padded_places(buckets, *lengths, 3), padded_places(plain, *lengths, 3) / 8);
  const auto order = test::visited(buckets, 3);
  EXPECT_NE(order, test::visited(buckets, 4));
  EXPECT_EQ(order, test::visited(LengthBuckets(lengths, options, 20), 3));
  // What drop_last leaves out is what was drawn last, not what is longest.
  EXPECT_EQ(test::sorted(order), test::sorted(test::visited(plain, 3)));
}

TEST(LengthBuckets, LongBatchesAreSpreadOverTheEpoch) {
  const Lengths lengths = test::drawn_lengths(1000);
  const LengthBuckets order(lengths, {.batch_size = 10, .seed = 2}, 100);
  const EpochOrder batches = order.epoch(0);
  int64_t rises = 0;
  for (int64_t number = 1; number < order.batches(); ++number) {
    const auto first_length = [&](int64_t n) {
      return (*lengths)[static_cast<size_t>(batches.place(n).samples[0].index)];
    };
    rises += first_length(number) > first_length(number - 1);
  }
  EXPECT_GT(rises, 30);
  EXPECT_LT(rises, 70);
}

TEST(LengthBuckets, SortTheWholeSetWithoutShuffling) {
  const auto lengths = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{3, 1, 2, 1, 9});
  const LengthBuckets order(lengths, {.batch_size = 2, .shuffle = false, .drop_last = false}, 1);
  EXPECT_EQ(test::visited(order, 0), (std::vector<int64_t>{1, 3, 2, 0, 4}));
}

TEST(LengthBuckets, MayBeLargerThanTheDataOrEmpty) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const LengthBuckets order(test::drawn_lengths(10), {.batch_size = 2}, kMax);
  EXPECT_EQ(test::sorted(test::visited(order, 0)), test::counted(10));
  EXPECT_EQ(LengthBuckets(test::drawn_lengths(0), {.drop_last = false}, 5).batches(), 0);
}

TEST(LengthBuckets, NeedLengthsAndNoRepeats) {
  EXPECT_THROW(LengthBuckets(nullptr, {}, 1), std::invalid_argument);
  EXPECT_THROW(LengthBuckets(test::drawn_lengths(5), {.repeats = 2}, 1), std::invalid_argument);
  EXPECT_THROW(LengthBuckets(test::drawn_lengths(5), {}, 0), std::invalid_argument);
  EXPECT_THROW(LengthBuckets(test::drawn_lengths(5), {.batch_size = 0}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::data
