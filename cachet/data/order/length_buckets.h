#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachet/data/order/equal_batches.h"

namespace cachet::data {

/// The length of each sample.
using Lengths = std::shared_ptr<const std::vector<int64_t>>;

/// Batches of equal size with samples of similar lengths. The shuffled samples are cut into groups of `bucket_batches`
/// batches. Each group is sorted by length and cut into batches. The batches of all groups are then shuffled, but a
/// last batch with fewer samples than the other batches stays the last. The samples of a smaller last batch are chosen
/// at random before sorting; drop_last leaves this batch out. Without shuffling, all samples are sorted by length.
class LengthBuckets final : public BatchOrder {
 public:
  /// Throws std::invalid_argument if there are no lengths, if a bucket has fewer than 1 batch, for options that
  /// EqualBatches refuses, and for `repeats` above 1.
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
