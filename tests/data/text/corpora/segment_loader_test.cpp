#include "cachet/data/text/corpora/segment_loader.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace cachet {
namespace {

using data::BatchRowOptions;
using data::SegmentBatch;

// The tokens 0, 1, 2, …
class CountingTokens final : public data::TokenSequence {
 public:
  explicit CountingTokens(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  void read(int64_t first, int64_t count, int64_t* out) const override {
    if (first < 0 || first + count > size_) throw std::out_of_range("tokens");
    for (int64_t i = 0; i < count; ++i) out[i] = first + i;
  }

 private:
  int64_t size_;
};

TEST(SegmentLoader, LanesGoOnFromBatchToBatch) {
  for (const int64_t workers : {0, 2}) {
    const data::SegmentLoader loader(std::make_shared<CountingTokens>(103), {4, 7}, {workers, 2});
    ASSERT_EQ(loader.batches(), 4);  // 25 tokens a lane, the last of them a target alone
    auto stream = loader.iterate(/*epoch=*/3);
    int64_t place = 0;
    while (const auto batch = stream.next()) {
      const int64_t length = batch->number < 3 ? 7 : 3;
      EXPECT_TRUE(at::equal(batch->targets, batch->ids + 1));
      EXPECT_TRUE(at::equal(batch->ids, at::arange(4).unsqueeze(1) * 25 + at::arange(place, place + length)));
      place += length;
    }
    auto later = loader.iterate(0, 2);
    EXPECT_EQ(later.next()->ids[1][0].item<int64_t>(), 25 + 14);
  }
}

TEST(SegmentLoader, ShardsHaveLanesOfTheirOwn) {
  const auto tokens = std::make_shared<CountingTokens>(60);
  const data::SegmentLoader whole(tokens, {3, 5}), first(tokens, {3, 5}, {}, {0, 2}),
      second(tokens, {3, 5}, {}, {1, 2});
  auto all = whole.iterate(0), even = first.iterate(0), odd = second.iterate(0);
  while (const auto batch = all.next()) {
    EXPECT_TRUE(at::equal(even.next()->ids, batch->ids.index_select(0, at::tensor({0, 2}, at::kLong))));
    EXPECT_TRUE(at::equal(odd.next()->ids, batch->ids.narrow(0, 1, 1)));
  }
}

TEST(EvaluationSegments, EveryTokenButTheFirstIsATargetOnce) {
  for (const int64_t size : {2, 3, 10, 101, 102, 103, 104})
    for (const int64_t batch_rows : {1, 2, 3, 4})
      for (const int64_t length : {1, 5, 7, 1000}) {
        const CountingTokens tokens(size);
        const BatchRowOptions options{batch_rows, length};
        if (size - 1 < batch_rows) {
          EXPECT_THROW(data::evaluation_segments(tokens.size(), options), std::invalid_argument);
          continue;
        }
        std::map<int64_t, int64_t> seen;
        for (int64_t i = 0; i < data::evaluation_segments(tokens.size(), options); ++i) {
          const SegmentBatch batch = data::evaluation_segment(tokens, options, i * length);
          EXPECT_EQ(batch.number, i);
          for (int64_t batch_row = 0; batch_row < batch_rows; ++batch_row)
            for (int64_t j = 0; j < batch.ids.size(1); ++j) {
              const auto target = batch.targets[batch_row][j].item<int64_t>();
              if (target < 0) continue;
              EXPECT_EQ(batch.ids[batch_row][j].item<int64_t>(), target - 1);
              ++seen[target];
            }
        }
        ASSERT_EQ(static_cast<int64_t>(seen.size()), size - 1) << size << " tokens, " << batch_rows << " lanes";
        for (const auto& [target, times] : seen) EXPECT_EQ(times, 1) << target;
        EXPECT_THROW(data::evaluation_segment(tokens, options, size), std::out_of_range);
      }
}

}  // namespace
}  // namespace cachet
