#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachet/data/order/batch_order.h"

namespace cachet::data {

struct EqualBatchOptions {
  int64_t batch_size = 128;  // batch size of all shards together
  bool shuffle = true;       // whether to shuffle; false: the order of the data set, as in evaluation
  bool drop_last = true;     // whether to leave out the last batch of an epoch if it is not full
  uint64_t seed = 0;
  int64_t repeats = 1;  // consecutive uses of a sample, each augmented anew; an epoch uses ⌈samples / repeats⌉ samples
};

/// The division of a sequence of samples into batches of one size.
struct EqualCut {
  int64_t samples = 0, batch_size = 1;
  bool drop_last = true;

  int64_t batches() const;
  int64_t first(int64_t number) const { return number * batch_size; }
  int64_t count(int64_t number) const;
  /// Returns the function that gives the samples of a batch. `order` has the samples of the epoch in their order, or is
  /// null for the order of the data set. Each sample occurs `repeats` times in succession.
  EpochOrder::WholeBatch whole_batches(std::shared_ptr<const std::vector<int64_t>> order, int64_t repeats) const;
};

/// Throws std::invalid_argument if `repeats` is below 1.
void check_repeats(int64_t repeats);

/// Batches of one size; the last batch may be smaller. With `repeats` = R (repeated augmentation, Hoffer et al. 2020),
/// the length of an epoch does not change, but the epoch has only the first ⌈samples / R⌉ samples of its order, each R
/// times in succession.
///
/// Memory: 8 bytes for each sample with shuffling, and none without shuffling.
class EqualBatches final : public BatchOrder {
 public:
  /// Throws std::invalid_argument for a negative number of samples, and if the batch size or `repeats` is below 1.
  EqualBatches(int64_t samples, EqualBatchOptions options, Shard shard = {});

  int64_t batches() const override { return cut_.batches(); }

 private:
  EpochOrder::WholeBatch whole_batches(int64_t epoch) const override;

  EqualCut cut_;
  bool shuffle_;
  int64_t repeats_;
};

}  // namespace cachet::data
