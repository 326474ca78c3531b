#pragma once

#include <cstdint>

#include "cachet/data/order/batch_order.h"

namespace cachet::data {

struct BatchRowOptions {
  int64_t batch_rows = 60;       // batch size: rows of all shards together
  int64_t segment_length = 150;  // tokens of a batch row in one batch; both defaults are as published for WikiText-103
};

/// The inputs of a segment: a range of a long token sequence. The targets are the tokens one position later.
struct TokenRange {
  int64_t begin = 0, length = 0;
};

/// Batch rows over one long sequence of tokens, as in Transformer-XL (Dai et al. 2019). The sequence is cut into batch
/// rows of equal length, and batch n has segment n of each row. Thus, each row of a batch continues the same row of the
/// previous batch, also in a shard (shard r of w has the rows r, r + w and so on). The last segment may be shorter.
/// Tokens after the last whole row are not read; there are fewer such tokens than rows.
///
/// A sample is a segment of a batch row; the number of the sample is row · (segments of a row) + segment. The order is
/// not random, so all epochs are equal, and the order needs no memory.
class BatchRows final : public BatchOrder {
 public:
  /// Throws std::invalid_argument for a negative number of tokens, and for a segment length or a number of rows below
  /// 1. If the sequence has fewer than two tokens for each row, there are no batches.
  BatchRows(int64_t tokens, BatchRowOptions options, Shard shard = {});

  int64_t batches() const override;
  /// Returns the tokens of a segment. Throws std::out_of_range unless 0 <= sample < samples().
  TokenRange segment(int64_t sample) const;

 private:
  BatchRows(BatchRowOptions options, int64_t batch_row_tokens, Shard shard);
  EpochOrder::WholeBatch whole_batches(int64_t epoch) const override;

  BatchRowOptions options_;
  int64_t batch_row_tokens_;
};

}  // namespace cachet::data
