#include "cachet/data/order/batch_rows.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cachet::data {
namespace {

int64_t tokens_of_batch_row(int64_t tokens, const BatchRowOptions& options) {
  if (tokens < 0) throw std::invalid_argument("a sequence cannot have " + std::to_string(tokens) + " tokens");
  if (options.batch_rows < 1 || options.segment_length < 1)
    throw std::invalid_argument(
        "a sequence must have at least one batch row, and its segments must have at least one token");
  return tokens / options.batch_rows;
}

// The last token of a batch row is a target alone.
int64_t segments_of_batch_row(int64_t batch_row_tokens, int64_t segment_length) {
  return batch_row_tokens < 2 ? 0 : (batch_row_tokens - 2) / segment_length + 1;
}

}  // namespace

BatchRows::BatchRows(int64_t tokens, BatchRowOptions options, Shard shard)
    : BatchRows(options, tokens_of_batch_row(tokens, options), shard) {}

BatchRows::BatchRows(BatchRowOptions options, int64_t batch_row_tokens, Shard shard)
    : BatchOrder(options.batch_rows * segments_of_batch_row(batch_row_tokens, options.segment_length), /*seed=*/0,
                 shard),
      options_(options),
      batch_row_tokens_(batch_row_tokens) {
  check_batch_size(options.batch_rows);
}

int64_t BatchRows::batches() const { return segments_of_batch_row(batch_row_tokens_, options_.segment_length); }

TokenRange BatchRows::segment(int64_t sample) const {
  if (sample < 0 || sample >= samples())
    throw std::out_of_range("segment " + std::to_string(sample) + " of " + std::to_string(samples()));
  const int64_t batch_row = sample / batches(), start = sample % batches() * options_.segment_length;
  return {batch_row * batch_row_tokens_ + start, std::min(options_.segment_length, batch_row_tokens_ - 1 - start)};
}

EpochOrder::WholeBatch BatchRows::whole_batches(int64_t /*epoch*/) const {
  return [batch_rows = options_.batch_rows, segments = batches()](int64_t number) {
    std::vector<PlacedSample> batch(static_cast<size_t>(batch_rows));
    int64_t sample = number;
    for (PlacedSample& placed : batch) {
      placed.index = sample;
      sample += segments;
    }
    return batch;
  };
}

}  // namespace cachet::data
