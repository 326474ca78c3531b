#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace cachet::data {

/// Process `rank` of the `world_size` processes that divide each batch of a run. A batch has world_size · parts parts
/// in total. Each process reads its `parts` parts of a batch one after the other.
struct Shard {
  int64_t rank = 0, world_size = 1;
  int64_t parts = 1;

  /// Returns the number of parts of a batch, over all processes.
  int64_t all_parts() const { return world_size * parts; }
  /// Returns the index of this process's part `own` (counted from 0) among all parts.
  int64_t number_of(int64_t own) const { return rank + own * world_size; }
  /// Returns the shard that part `own` would have if each part had its own process, with rank number_of(own).
  Shard alone(int64_t own) const { return {number_of(own), all_parts()}; }

  /// Requires `parts` = 1. Returns how many samples of a batch of `samples` samples belong to this shard. The samples
  /// of the shard have the indices rank, rank + world_size, rank + 2 · world_size, …
  int64_t part_of(int64_t samples) const { return (samples - rank + world_size - 1) / world_size; }
};

/// A sample of a batch.
struct PlacedSample {
  int64_t index = 0;       // index in the data set
  int64_t repetition = 0;  // number of earlier uses of the sample in this epoch; each use is augmented anew
  bool operator==(const PlacedSample&) const = default;
};

/// The samples of a batch in one shard, and the batch's position in the run.
struct BatchPlace {
  std::vector<PlacedSample> samples;  // empty if the batch has fewer samples than there are shards
  int64_t epoch = 0;
  int64_t number = 0;  // number of the whole batch in the epoch, the same for all its parts

  std::vector<int64_t> indices() const;
};

/// The batches of one epoch for one shard. EpochOrder is thread-safe and may outlive the BatchOrder that made it.
class EpochOrder {
 public:
  /// A function that returns the samples of batch `number`, of all shards together.
  using WholeBatch = std::function<std::vector<PlacedSample>(int64_t number)>;

  EpochOrder(int64_t epoch, int64_t batches, Shard shard, WholeBatch whole_batch);

  /// Returns the number of batch parts that the shard reads in the epoch: `parts` parts of each whole batch.
  int64_t batches() const { return batches_ * shard_.parts; }
  /// Returns one batch without reading earlier batches. Throws std::out_of_range unless 0 <= number < batches().
  BatchPlace place(int64_t number) const;

 private:
  int64_t epoch_, batches_;  // whole batches
  Shard shard_;
  WholeBatch whole_batch_;
};

/// Determines the samples of each batch of an epoch as a function of (seed, epoch, shard).
///
/// batches() is the same for every epoch and every shard. Because batches() does not vary, schedules know the length of
/// a run, and no process waits for a batch that another process lacks. A batch does not depend on the number of shards.
/// Shard r of w has the batch's samples r, r + w, r + 2w and so on. Thus, each sample of an epoch is in exactly one
/// shard, and the sizes of the parts of a batch differ by at most one sample. If a batch has fewer samples than there
/// are shards, some shards have no samples of this batch.
class BatchOrder {
 public:
  virtual ~BatchOrder() = default;

  /// Returns the number of whole batches in every epoch.
  virtual int64_t batches() const = 0;
  /// Returns the number of batches that this shard reads in every epoch. The shard reads `parts` parts of each whole
  /// batch, each part as a batch of its own.
  int64_t read_batches() const { return batches() * shard_.parts; }
  /// Makes the order of one epoch. The call takes as much time as shuffling all samples.
  EpochOrder epoch(int64_t epoch) const;

  int64_t samples() const { return samples_; }  // number of samples in the data set; indices are smaller
  uint64_t seed() const { return seed_; }
  const Shard& shard() const { return shard_; }

 protected:
  /// Throws std::invalid_argument for a negative number of samples, and for an invalid shard.
  BatchOrder(int64_t samples, uint64_t seed, Shard shard);
  /// Checks the batch size of an order whose batches all have the same size. Throws std::invalid_argument unless the
  /// batch size is positive and suffices for all shards.
  void check_batch_size(int64_t batch_size) const;

  /// Returns a function that maps a whole batch's number to its samples. The function may outlive the BatchOrder.
  virtual EpochOrder::WholeBatch whole_batches(int64_t epoch) const = 0;

 private:
  int64_t samples_;
  uint64_t seed_;
  Shard shard_;
};

}  // namespace cachet::data
