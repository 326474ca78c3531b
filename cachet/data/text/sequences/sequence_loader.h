#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "cachet/data/loader.h"
#include "cachet/data/order/equal_batches.h"
#include "cachet/data/order/length_buckets.h"
#include "cachet/data/text/sequences/sequence_dataset.h"

namespace cachet::data {

/// Sequences of one length, each filled with kPaddingToken after its end.
struct PaddedTokens {
  at::Tensor ids;      // (B, L) int64
  at::Tensor padding;  // (B, L) bool, true = padding; undefined where nothing is padded
};

struct SequenceBatch {
  PaddedTokens tokens;
  PaddedTokens second;           // of pairs, with a length of its own; its tensors are undefined else
  at::Tensor labels;             // (B) int64
  std::vector<int64_t> indices;  // of the data set
  int64_t number = 0;            // within the epoch
};

/// How long a batch's sequences are made: as the longest of them, rounded up to a multiple, at least `least_length`.
/// Rounding up ends at `most_length`, which is as long as the model reads.
struct PaddingOptions {
  int64_t multiple = 1;
  int64_t least_length = 1;  // data.max_length makes all batches one length
  int64_t most_length = std::numeric_limits<int64_t>::max();

  int64_t rounded_up(int64_t length) const {
    const int64_t missing = (multiple - length % multiple) % multiple;
    return length + std::clamp<int64_t>(most_length - length, 0, missing);
  }
};

struct SequenceLoaderOptions {
  LoaderOptions loader{};
  PaddingOptions padding{};
  int64_t bucket_batches = 50;  // of LengthBuckets; 0 = no buckets
};

/// Reads workers, prefetch, bucket_batches, pad_to ("longest", or "max_length", which needs `max_length` > 0) and
/// pad_multiple.
SequenceLoaderOptions read_sequence_loader_options(const config::View& view, int64_t max_length);

/// Copies sequences into one tensor.
PaddedTokens pad(const std::vector<TokenView>& sequences, const PaddingOptions& options);

/// LengthBuckets of a data set's samples, or EqualBatches where bucket_batches is 0. Throws std::invalid_argument as
/// these do.
std::shared_ptr<const BatchOrder> sequence_order(const SequenceDataset& dataset, const EqualBatchOptions& options,
                                                 int64_t bucket_batches, Shard shard = {});

/// The lengths that samples have in a batch at least, for TokenBudget: one side, or two of pairs.
std::vector<Lengths> padded_lengths(const SequenceDataset& dataset, const PaddingOptions& options);

/// Makes batches of sequences.
class SequenceLoader {
 public:
  /// Throws std::invalid_argument when the options make no sense, or the order is of another number of samples.
  SequenceLoader(std::shared_ptr<const SequenceDataset> dataset, std::shared_ptr<const BatchOrder> order,
                 LoaderOptions loader = {}, PaddingOptions padding = {});

  int64_t batches() const { return loader_.batches(); }  // of one epoch
  const SequenceDataset& dataset() const { return *dataset_; }

  /// As BatchLoader::iterate.
  BatchIterator<SequenceBatch> iterate(int64_t epoch, int64_t first_batch = 0) const {
    return loader_.iterate(epoch, first_batch);
  }
  /// As BatchLoader's.
  BatchPlace place(int64_t epoch, int64_t number) const { return loader_.place(epoch, number); }

 private:
  std::shared_ptr<const SequenceDataset> dataset_;
  BatchLoader<SequenceBatch> loader_;
};

}  // namespace cachet::data
