#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "cachet/data/loader.h"
#include "cachet/data/order/batch_rows.h"
#include "cachet/data/text/corpora/token_sequence.h"

namespace cachet::data {

/// One segment of each batch row of a long sequence, and its targets: the tokens one position later.
struct SegmentBatch {
  at::Tensor ids, targets;  // (rows, L) int64
  int64_t number = 0;       // number of the batch in the epoch
};

/// Makes batches of the segments of `BatchRows`.
class SegmentLoader {
 public:
  /// Throws std::invalid_argument for invalid options.
  SegmentLoader(std::shared_ptr<const TokenSequence> tokens, BatchRowOptions batch_rows, LoaderOptions loader = {},
                Shard shard = {});

  int64_t batches() const { return loader_.batches(); }  // number of batches of one epoch
  /// Iterates over the batches of an epoch, from `first_batch` on (BatchLoader::iterate).
  BatchIterator<SegmentBatch> iterate(int64_t epoch, int64_t first_batch = 0) const {
    return loader_.iterate(epoch, first_batch);
  }
  /// Returns the samples of batch `number` of an epoch; see BatchLoader::place().
  BatchPlace place(int64_t epoch, int64_t number) const { return loader_.place(epoch, number); }
  SegmentBatch make(const BatchPlace& place) const { return loader_.make(place); }

 private:
  BatchLoader<SegmentBatch> loader_;
};

/// Returns one segment of each batch row for an evaluation. Each segment begins at index `first` of its row. The tokens
/// after the first token are divided among the batch rows. The row lengths differ by at most one token. Each token
/// after the first token is a target exactly once. If a row is shorter than others, its last segment has the target −1.
/// Throws std::invalid_argument if a row has no target, and std::out_of_range if no row has the index `first`.
SegmentBatch evaluation_segment(const TokenSequence& tokens, const BatchRowOptions& options, int64_t first);
/// Returns the number of batches of an evaluation on `tokens` tokens.
int64_t evaluation_segments(int64_t tokens, const BatchRowOptions& options);

}  // namespace cachet::data
