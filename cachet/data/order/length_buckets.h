#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachet/data/order/equal_batches.h"

namespace cachet::data {

/// The length of each sample.
using Lengths = std::shared_ptr<const std::vector<int64_t>>;

/// Equal batches whose samples are about as long as each other. The shuffled samples of `bucket_batches` batches are
/// sorted by length together and cut into batches, and the batches of the epoch are shuffled. The last, smaller one
/// stays the last, and which samples it holds, or drop_last leaves out, is drawn before sorting. Without shuffling, all
/// samples are sorted.
class LengthBuckets final : public BatchOrder {
 public:
  /// Throws std::invalid_argument without lengths, for fewer than 1 batch a bucket, for options that EqualBatches
  /// refuses, and for repeats.
  LengthBuckets(Lengths lengths, EqualBatchOptions options, int64_t bucket_batches, Shard shard = {});

  int64_t batches() const override { return cut_.batches(); }

 private:
  EpochOrder::WholeBatch whole_batches(int64_t epoch) const override;
  std::vector<int64_t> visited(int64_t epoch) const;

  Lengths lengths_;
  EqualCut cut_;
  bool shuffle_;
  int64_t bucket_batches_;
};

}  // namespace cachet::data
