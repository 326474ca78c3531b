#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace cachet::data {

/// One of the processes that share each batch of a run: number `rank` of `world_size`. If a process has several `parts`
/// of each batch, it reads them one after the other: they are the batches of shards of world_size · parts processes.
struct Shard {
  int64_t rank = 0, world_size = 1;
  int64_t parts = 1;

  /// How many parts a batch has, in all processes.
  int64_t all_parts() const { return world_size * parts; }
  /// The number of this process's part `own`, from 0 on, among all parts.
  int64_t number_of(int64_t own) const { return rank + own * world_size; }
  /// The process that would have this process's part `own` if each process had one part.
  Shard alone(int64_t own) const { return {number_of(own), all_parts()}; }

  /// A number of samples: how many of a batch's samples 0, 1, … are this shard's if it has one part. It has every
  /// world_size-th one, from its rank on.
  int64_t part_of(int64_t samples) const { return (samples - rank + world_size - 1) / world_size; }
};

/// A sample of a batch.
struct PlacedSample {
  int64_t index = 0;       // of the data set
  int64_t repetition = 0;  // how often the sample was in this epoch before; each repetition is augmented anew
  bool operator==(const PlacedSample&) const = default;
};

/// The samples of a batch in one shard, and the batch's position in the run.
struct BatchPlace {
  std::vector<PlacedSample> samples;  // empty where the batch has fewer samples than there are shards
  int64_t epoch = 0;
  int64_t number = 0;  // of the whole batch within the epoch, which its parts share

  std::vector<int64_t> indices() const;
};

/// The batches of one epoch as one shard sees them. Thread-safe, and independent of the order that made it.
class EpochOrder {
 public:
  /// The samples of a batch of all shards together.
  using WholeBatch = std::function<std::vector<PlacedSample>(int64_t number)>;

  EpochOrder(int64_t epoch, int64_t batches, Shard shard, WholeBatch whole_batch);

  /// What the shard reads in the epoch: as many for each whole batch as it has parts.
  int64_t batches() const { return batches_ * shard_.parts; }
  /// Any of them, without work for those before it. Throws std::out_of_range unless 0 <= number < batches().
  BatchPlace place(int64_t number) const;

 private:
  int64_t epoch_, batches_;  // whole batches
  Shard shard_;
  WholeBatch whole_batch_;
};

/// The samples of each batch of an epoch, a function of (seed, epoch, shard).
///
/// batches() is the same for every epoch and every shard, so that schedules know how long a run is and no process waits
/// for a batch that another one does not have. A batch does not depend on the number of shards. Shard r of w has its
/// samples r, r + w, r + 2w, … . So each sample of an epoch is in one shard once, and the parts of a batch differ by at
/// most one sample. If a batch has fewer samples than there are shards, some parts are empty.
class BatchOrder {
 public:
  virtual ~BatchOrder() = default;

  /// How many whole batches every epoch has.
  virtual int64_t batches() const = 0;
  /// How many batches this shard reads in every epoch: as many for each whole batch as it has parts.
  int64_t read_batches() const { return batches() * shard_.parts; }
  /// The order of one epoch. Making it costs as much as shuffling does.
  EpochOrder epoch(int64_t epoch) const;

  int64_t samples() const { return samples_; }  // in the data set: indices are below it
  uint64_t seed() const { return seed_; }
  const Shard& shard() const { return shard_; }

 protected:
  /// Throws std::invalid_argument for a negative number of samples and for a shard that cannot be.
  BatchOrder(int64_t samples, uint64_t seed, Shard shard);
  /// For orders whose batches have a fixed size. Throws std::invalid_argument unless it is 1 or more and does for all
  /// shards.
  void check_batch_size(int64_t batch_size) const;

  /// It may outlive the order.
  virtual EpochOrder::WholeBatch whole_batches(int64_t epoch) const = 0;

 private:
  int64_t samples_;
  uint64_t seed_;
  Shard shard_;
};

}  // namespace cachet::data
