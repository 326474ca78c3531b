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

/// Sequences padded to one length: the end of each sequence is followed by kPaddingToken.
struct PaddedTokens {
  at::Tensor ids;      // (B, L) int64
  at::Tensor padding;  // (B, L) bool, true = padding; undefined if nothing is padded
};

struct SequenceBatch {
  PaddedTokens tokens;
  PaddedTokens second;           // for pairs, with a length of its own; otherwise its tensors are undefined
  at::Tensor labels;             // (B) int64
  std::vector<int64_t> indices;  // indices of the samples in the data set
  int64_t number = 0;            // number of the batch in the epoch
};

/// The length of a batch's sequences: the length of the longest sequence, rounded up to a multiple, and at least
/// `least_length`. The length is rounded up to at most `most_length`, the greatest length that the model reads.
struct PaddingOptions {
  int64_t multiple = 1;
  int64_t least_length = 1;  // if it is data.max_length, all batches have one length
  int64_t most_length = std::numeric_limits<int64_t>::max();

  int64_t rounded_up(int64_t length) const {
    const int64_t missing = (multiple - length % multiple) % multiple;
    return length + std::clamp<int64_t>(most_length - length, 0, missing);
  }
};

struct SequenceLoaderOptions {
  LoaderOptions loader{};
  PaddingOptions padding{};
  int64_t bucket_batches = 50;  // number of batches in a bucket, for LengthBuckets; 0 = no buckets
};

/// Reads workers, prefetch, bucket_batches, pad_to and pad_multiple. pad_to is "longest" or "max_length"; "max_length"
/// requires `max_length` > 0.
SequenceLoaderOptions read_sequence_loader_options(const config::View& view, int64_t max_length);

/// Copies sequences into one tensor.
PaddedTokens pad(const std::vector<TokenView>& sequences, const PaddingOptions& options);

/// Makes LengthBuckets of a data set's samples, or EqualBatches if bucket_batches is 0. Throws std::invalid_argument
/// under the same conditions as the constructors of LengthBuckets and EqualBatches.
std::shared_ptr<const BatchOrder> sequence_order(const SequenceDataset& dataset, const EqualBatchOptions& options,
                                                 int64_t bucket_batches, Shard shard = {});

/// Returns, for TokenBudget, each sample's padded length if it is alone in a batch: one list, or two lists for pairs.
std::vector<Lengths> padded_lengths(const SequenceDataset& dataset, const PaddingOptions& options);

/// Makes batches of sequences.
class SequenceLoader {
 public:
  /// Throws std::invalid_argument for invalid options, and if `order` and `dataset` have different numbers of samples.
  SequenceLoader(std::shared_ptr<const SequenceDataset> dataset, std::shared_ptr<const BatchOrder> order,
                 LoaderOptions loader = {}, PaddingOptions padding = {});

  int64_t batches() const { return loader_.batches(); }  // number of batches of one epoch
  const SequenceDataset& dataset() const { return *dataset_; }

  /// Iterates over the batches of an epoch, from `first_batch` on; see BatchLoader::iterate().
  BatchIterator<SequenceBatch> iterate(int64_t epoch, int64_t first_batch = 0) const {
    return loader_.iterate(epoch, first_batch);
  }
  /// Returns the samples of batch `number` of an epoch; see BatchLoader::place().
  BatchPlace place(int64_t epoch, int64_t number) const { return loader_.place(epoch, number); }

 private:
  std::shared_ptr<const SequenceDataset> dataset_;
  BatchLoader<SequenceBatch> loader_;
};

}  // namespace cachet::data
