#include "cachet/data/text/corpora/segment_loader.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace cachet::data {
namespace {

BatchLoader<SegmentBatch> segment_batches(std::shared_ptr<const TokenSequence> tokens, const LaneOptions& options,
                                          LoaderOptions loader, Shard shard) {
  const auto lanes = std::make_shared<const Lanes>(tokens->size(), options, shard);
  return {
      lanes, loader, [tokens = std::move(tokens), lanes](const BatchPlace& place) {
        const std::vector<int64_t> segments = place.indices();
        const auto count = static_cast<int64_t>(segments.size());
        const int64_t length = segments.empty() ? 0 : lanes->segment(segments[0]).length;
        SegmentBatch batch{at::empty({count, length}, at::kLong), at::empty({count, length}, at::kLong), place.number};
        std::vector<int64_t> ids(static_cast<size_t>(length) + 1);
        for (int64_t lane = 0; lane < count; ++lane) {
          tokens->read(lanes->segment(segments[static_cast<size_t>(lane)]).begin, length + 1, ids.data());
          std::copy_n(ids.begin(), length, batch.ids.mutable_data_ptr<int64_t>() + lane * length);
          std::copy_n(ids.begin() + 1, length, batch.targets.mutable_data_ptr<int64_t>() + lane * length);
        }
        return batch;
      }};
}

// The targets of a lane, as places of the sequence: from … up to but not with.
struct LaneTargets {
  int64_t begin, end;
};

LaneTargets lane_targets(int64_t targets, int64_t lanes, int64_t lane) {
  return {1 + targets * lane / lanes, 1 + targets * (lane + 1) / lanes};
}

int64_t longest_lane(int64_t tokens, const LaneOptions& options) {
  const int64_t targets = tokens - 1;
  if (options.lanes < 1 || options.segment_length < 1 || targets < options.lanes)
    throw std::invalid_argument("a text of " + std::to_string(tokens) + " tokens cannot be evaluated in " +
                                std::to_string(options.lanes) + " lanes of segments of " +
                                std::to_string(options.segment_length) + ": choose fewer lanes");
  return (targets + options.lanes - 1) / options.lanes;
}

}  // namespace

SegmentLoader::SegmentLoader(std::shared_ptr<const TokenSequence> tokens, LaneOptions lanes, LoaderOptions loader,
                             Shard shard)
    : loader_(segment_batches(std::move(tokens), lanes, loader, shard)) {}

int64_t evaluation_segments(int64_t tokens, const LaneOptions& options) {
  return (longest_lane(tokens, options) + options.segment_length - 1) / options.segment_length;
}

SegmentBatch evaluation_segment(const TokenSequence& tokens, const LaneOptions& options, int64_t first) {
  const int64_t longest = longest_lane(tokens.size(), options),
                length = std::min(options.segment_length, longest - first);
  if (first < 0 || length < 1)
    throw std::out_of_range("place " + std::to_string(first) + " of a lane of " + std::to_string(longest) + " tokens");
  SegmentBatch batch{at::full({options.lanes, length}, 0, at::kLong), at::full({options.lanes, length}, -1, at::kLong),
                     first / options.segment_length};
  std::vector<int64_t> ids;
  for (int64_t lane = 0; lane < options.lanes; ++lane) {
    const LaneTargets own = lane_targets(tokens.size() - 1, options.lanes, lane);
    const int64_t here = std::min(length, own.end - own.begin - first);
    if (here < 1) continue;
    ids.resize(static_cast<size_t>(here) + 1);
    tokens.read(own.begin - 1 + first, here + 1, ids.data());
    std::copy_n(ids.begin(), here, batch.ids.mutable_data_ptr<int64_t>() + lane * length);
    std::copy_n(ids.begin() + 1, here, batch.targets.mutable_data_ptr<int64_t>() + lane * length);
  }
  return batch;
}

}  // namespace cachet::data
