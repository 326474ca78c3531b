#include "cachet/data/order/batch_rows.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cachet::data {
namespace {

constexpr int64_t kLongestSegment = int64_t{1} << 24;

int64_t tokens_of_lane(int64_t tokens, const LaneOptions& options) {
  if (tokens < 0) throw std::invalid_argument("a sequence cannot have " + std::to_string(tokens) + " tokens");
  if (options.lanes < 1 || options.segment_length < 1)
    throw std::invalid_argument("a sequence is cut into 1 or more lanes and segments of 1 or more tokens");
  return tokens / options.lanes;
}

// The last token of a lane is a target alone.
int64_t segments_of_lane(int64_t lane_tokens, int64_t segment_length) {
  return lane_tokens < 2 ? 0 : (lane_tokens - 2) / segment_length + 1;
}

}  // namespace

LaneOptions read_lane_options(const config::View& view) {
  LaneOptions options;
  options.segment_length = view.integer("segment_length", options.segment_length, {1, kLongestSegment});
  return options;
}

Lanes::Lanes(int64_t tokens, LaneOptions options, Shard shard)
    : Lanes(options, tokens_of_lane(tokens, options), shard) {}

Lanes::Lanes(LaneOptions options, int64_t lane_tokens, Shard shard)
    : BatchOrder(options.lanes * segments_of_lane(lane_tokens, options.segment_length), /*seed=*/0, shard),
      options_(options),
      lane_tokens_(lane_tokens) {
  check_batch_size(options.lanes);
}

int64_t Lanes::batches() const { return segments_of_lane(lane_tokens_, options_.segment_length); }

TokenRange Lanes::segment(int64_t sample) const {
  if (sample < 0 || sample >= samples())
    throw std::out_of_range("segment " + std::to_string(sample) + " of " + std::to_string(samples()));
  const int64_t lane = sample / batches(), start = sample % batches() * options_.segment_length;
  return {lane * lane_tokens_ + start, std::min(options_.segment_length, lane_tokens_ - 1 - start)};
}

EpochOrder::WholeBatch Lanes::whole_batches(int64_t /*epoch*/) const {
  return [lanes = options_.lanes, segments = batches()](int64_t number) {
    std::vector<PlacedSample> batch(static_cast<size_t>(lanes));
    int64_t sample = number;
    for (PlacedSample& placed : batch) {
      placed.index = sample;
      sample += segments;
    }
    return batch;
  };
}

}  // namespace cachet::data
