#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "cachet/data/loader.h"
#include "cachet/data/order/batch_rows.h"
#include "cachet/data/text/corpora/token_sequence.h"

namespace cachet::data {

/// A segment of each batch row of a long sequence, and the tokens one position later.
struct SegmentBatch {
  at::Tensor ids, targets;  // (rows, L) int64
  int64_t number = 0;       // within the epoch
};

/// Makes the segments of `BatchRows`.
class SegmentLoader {
 public:
  /// Throws std::invalid_argument when the options make no sense.
  SegmentLoader(std::shared_ptr<const TokenSequence> tokens, BatchRowOptions batch_rows, LoaderOptions loader = {},
                Shard shard = {});

  int64_t batches() const { return loader_.batches(); }  // of one epoch
  /// As BatchLoader::iterate.
  BatchIterator<SegmentBatch> iterate(int64_t epoch, int64_t first_batch = 0) const {
    return loader_.iterate(epoch, first_batch);
  }
  /// As BatchLoader's.
  BatchPlace place(int64_t epoch, int64_t number) const { return loader_.place(epoch, number); }
  SegmentBatch make(const BatchPlace& place) const { return loader_.make(place); }

 private:
  BatchLoader<SegmentBatch> loader_;
};

/// The segment of every batch row of an evaluation that begins at index `first` of its row. The tokens after the first
/// token are divided among the rows in pieces that differ by at most one token, so that each is a target once. A row
/// that ends before the others has target −1 there. Throws std::invalid_argument unless each row has a target, and
/// std::out_of_range for an index that no row has.
SegmentBatch evaluation_segment(const TokenSequence& tokens, const BatchRowOptions& options, int64_t first);
/// How many such segments there are.
int64_t evaluation_segments(int64_t tokens, const BatchRowOptions& options);

}  // namespace cachet::data
