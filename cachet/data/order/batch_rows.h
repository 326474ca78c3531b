#pragma once

#include <cstdint>

#include "cachet/data/order/batch_order.h"

namespace cachet::data {

struct BatchRowOptions {
  int64_t batch_rows = 60;       // of all shards together: the batch size
  int64_t segment_length = 150;  // tokens of a batch row in one batch; both as published for WikiText-103
};

/// A piece of a long sequence of tokens: the inputs of a segment, whose targets lie one token further on.
struct TokenRange {
  int64_t begin = 0, length = 0;
};

/// Batch rows over one long sequence of tokens, as in Transformer-XL (Dai et al. 2019): the sequence is cut into batch
/// rows of equal length, and batch n has segment n of each. A row continues where the same row of the batch before
/// ended, also in a shard: shard r of w has the rows r, r + w, … . The last segment may be shorter. The tokens after
/// the last whole row are not read; they are fewer than the rows.
///
/// A sample is a segment: number (row · segments of a row + segment). Nothing is drawn, all epochs are equal. Takes
/// no memory.
class BatchRows final : public BatchOrder {
 public:
  /// Throws std::invalid_argument for fewer than 0 tokens, and for a segment length or a number of rows below 1. A
  /// sequence with fewer than two tokens for each row has no batches.
  BatchRows(int64_t tokens, BatchRowOptions options, Shard shard = {});

  int64_t batches() const override;
  /// Throws std::out_of_range unless 0 <= sample < samples().
  TokenRange segment(int64_t sample) const;

 private:
  BatchRows(BatchRowOptions options, int64_t batch_row_tokens, Shard shard);
  EpochOrder::WholeBatch whole_batches(int64_t epoch) const override;

  BatchRowOptions options_;
  int64_t batch_row_tokens_;
};

}  // namespace cachet::data
