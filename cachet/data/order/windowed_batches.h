#pragma once

#include <cstdint>
#include <vector>

#include "cachet/data/order/batch_order.h"
#include "cachet/data/order/equal_batches.h"

namespace cachet::data {

/// Returns the samples of an epoch in the order of WindowedBatches. Throws std::invalid_argument for a negative size of
/// a shard, and for a window below 1.
std::vector<int64_t> windowed_order(const std::vector<int64_t>& shard_sizes, int64_t window, uint64_t seed,
                                    int64_t epoch);

/// Batches of one size for samples in shards, which are files with many consecutive samples. In each epoch, the shards
/// are shuffled, and their samples form one sequence. This sequence is divided into windows of `window` consecutive
/// samples, and each window is shuffled. So a batch reads only the shards of one or two windows. A window that has all
/// samples gives a uniform order, as EqualBatches does.
///
/// Memory: 8 bytes for each sample.
class WindowedBatches final : public BatchOrder {
 public:
  /// `shard_sizes` has the number of samples of each shard. Ignores options.shuffle. Throws std::invalid_argument if
  /// EqualBatches or windowed_order() throws it.
  WindowedBatches(std::vector<int64_t> shard_sizes, int64_t window, EqualBatchOptions options, Shard shard = {});

  int64_t batches() const override { return cut_.batches(); }

 private:
  EpochOrder::WholeBatch whole_batches(int64_t epoch) const override;

  std::vector<int64_t> shard_sizes_;
  int64_t window_;
  EqualCut cut_;
  int64_t repeats_;
};

}  // namespace cachet::data
