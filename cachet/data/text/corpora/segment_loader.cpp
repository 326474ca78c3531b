#include "cachet/data/text/corpora/segment_loader.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/config/counted.h"

namespace cachet::data {
namespace {

BatchLoader<SegmentBatch> segment_batches(std::shared_ptr<const TokenSequence> tokens, const BatchRowOptions& options,
                                          LoaderOptions loader, Shard shard) {
  const auto batch_rows = std::make_shared<const BatchRows>(tokens->size(), options, shard);
  return {
      batch_rows, loader, [tokens = std::move(tokens), batch_rows](const BatchPlace& place) {
        const std::vector<int64_t> segments = place.indices();
        const auto count = static_cast<int64_t>(segments.size());
        const int64_t length = segments.empty() ? 0 : batch_rows->segment(segments[0]).length;
        SegmentBatch batch{at::empty({count, length}, at::kLong), at::empty({count, length}, at::kLong), place.number};
        std::vector<int64_t> ids(static_cast<size_t>(length) + 1);
        for (int64_t batch_row = 0; batch_row < count; ++batch_row) {
          tokens->read(batch_rows->segment(segments[static_cast<size_t>(batch_row)]).begin, length + 1, ids.data());
          std::copy_n(ids.begin(), length, batch.ids.mutable_data_ptr<int64_t>() + batch_row * length);
          std::copy_n(ids.begin() + 1, length, batch.targets.mutable_data_ptr<int64_t>() + batch_row * length);
        }
        return batch;
      }};
}

// The targets of a batch row, as positions of the sequence: from … up to but not with.
struct BatchRowTargets {
  int64_t begin, end;
};

BatchRowTargets batch_row_targets(int64_t targets, int64_t batch_rows, int64_t batch_row) {
  return {1 + targets * batch_row / batch_rows, 1 + targets * (batch_row + 1) / batch_rows};
}

int64_t longest_batch_row(int64_t tokens, const BatchRowOptions& options) {
  const int64_t targets = tokens - 1;
  if (options.batch_rows < 1 || options.segment_length < 1 || targets < options.batch_rows)
    throw std::invalid_argument("a text of " + config::counted(tokens, "token") + " cannot be evaluated in " +
                                config::counted(options.batch_rows, "batch row") + " with segments of " +
                                config::counted(options.segment_length, "token") +
                                "; choose fewer batch rows or shorter segments");
  return (targets + options.batch_rows - 1) / options.batch_rows;
}

}  // namespace

SegmentLoader::SegmentLoader(std::shared_ptr<const TokenSequence> tokens, BatchRowOptions batch_rows,
                             LoaderOptions loader, Shard shard)
    : loader_(segment_batches(std::move(tokens), batch_rows, loader, shard)) {}

int64_t evaluation_segments(int64_t tokens, const BatchRowOptions& options) {
  return (longest_batch_row(tokens, options) + options.segment_length - 1) / options.segment_length;
}

SegmentBatch evaluation_segment(const TokenSequence& tokens, const BatchRowOptions& options, int64_t first) {
  const int64_t longest = longest_batch_row(tokens.size(), options),
                length = std::min(options.segment_length, longest - first);
  if (first < 0 || length < 1)
    throw std::out_of_range("there is no position " + std::to_string(first) + " in a batch row of " +
                            std::to_string(longest) + " tokens");
  SegmentBatch batch{at::full({options.batch_rows, length}, 0, at::kLong),
                     at::full({options.batch_rows, length}, -1, at::kLong), first / options.segment_length};
  std::vector<int64_t> ids;
  for (int64_t batch_row = 0; batch_row < options.batch_rows; ++batch_row) {
    const BatchRowTargets own = batch_row_targets(tokens.size() - 1, options.batch_rows, batch_row);
    const int64_t here = std::min(length, own.end - own.begin - first);
    if (here < 1) continue;
    ids.resize(static_cast<size_t>(here) + 1);
    tokens.read(own.begin - 1 + first, here + 1, ids.data());
    std::copy_n(ids.begin(), here, batch.ids.mutable_data_ptr<int64_t>() + batch_row * length);
    std::copy_n(ids.begin() + 1, here, batch.targets.mutable_data_ptr<int64_t>() + batch_row * length);
  }
  return batch;
}

}  // namespace cachet::data
