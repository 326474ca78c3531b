#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachet/data/order/batch_order.h"

namespace cachet::data {

struct GroupedBatchOptions {
  int64_t batch_size = 16;  // batch size of all shards together
  bool shuffle = true;      // whether to shuffle samples in a group, and batches; false: the order of the data set
  bool drop_last = true;    // whether to leave out a group's last batch if it is not full
  uint64_t seed = 0;
};

/// Batches in which all samples belong to one group. For example, batches of only upright or only wide images need less
/// padding. Each group is cut into batches separately, and the batches of all groups are shuffled together. If a group
/// is smaller than a batch, it forms a smaller batch, even with drop_last, so that its samples are used.
class GroupedBatches final : public BatchOrder {
 public:
  /// `groups` has the group number of each sample, from 0 on. Throws std::invalid_argument for a negative number, and
  /// for a batch size below 1.
  GroupedBatches(std::vector<int64_t> groups, GroupedBatchOptions options, Shard shard = {});

  int64_t batches() const override { return batches_; }

 private:
  EpochOrder::WholeBatch whole_batches(int64_t epoch) const override;
  int64_t batches_of(int64_t samples) const;

  std::vector<std::vector<int64_t>> members_;  // samples of each group
  GroupedBatchOptions options_;
  int64_t batches_ = 0;
};

}  // namespace cachet::data
