#pragma once

#include <cstdint>

#include "cachet/config/view.h"
#include "cachet/data/order/batch_order.h"

namespace cachet::data {

struct BatchRowOptions {
  int64_t batch_rows = 60;       // of all shards together: the batch size
  int64_t segment_length = 150;  // tokens of a lane in one batch; both as published for WikiText-103
};

/// Reads segment_length.
BatchRowOptions read_batch_row_options(const config::View& view);

/// A piece of a long sequence of tokens: the inputs of a segment, whose targets lie one token further on.
struct TokenRange {
  int64_t begin = 0, length = 0;
};

/// Streams over one long sequence of tokens, as Transformer-XL has them (Dai et al. 2019): the sequence is cut into
/// `lanes` streams of equal length, and batch n holds segment n of each. A lane of a batch goes on where that lane of
/// the batch before ended, also in a shard: shard r of w has the lanes r, r + w, … . The last segment may be shorter;
/// tokens behind the last whole lane are not read, which are fewer than there are lanes.
///
/// A sample is a segment: number (lane · segments of a lane + segment). Nothing is drawn, all epochs are equal. Takes
/// no memory.
class BatchRows final : public BatchOrder {
 public:
  /// Throws std::invalid_argument for fewer than 0 tokens, and for a segment length or a number of lanes below 1. A
  /// sequence with fewer than two tokens a lane has no batches.
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
