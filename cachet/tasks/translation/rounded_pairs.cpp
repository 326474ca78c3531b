#include "cachet/tasks/translation/rounded_pairs.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace cachet::tasks {
namespace {

constexpr int64_t kLengthMultiple = 8;

/// The largest number of pairs of this length in a process's part of a micro-batch.
int64_t most_pairs(int64_t length, const PairLimits& limits) {
  const int64_t fitting = limits.max_tokens / length;
  const int64_t pairs = limits.max_samples > 0 ? std::min(limits.max_samples, fitting) : fitting;
  return (pairs + limits.processes - 1) / limits.processes;
}

/// Pads sentences to a length, and adds copies of the first sentence.
data::PaddedTokens padded_sentences(const data::PaddedTokens& sentences, int64_t length, int64_t copies) {
  const int64_t missing = length - sentences.ids.size(1);
  const at::Tensor padding =
      sentences.padding.defined() ? sentences.padding : at::zeros(sentences.ids.sizes(), at::kBool);
  const auto with_copies = [&](const at::Tensor& all) {
    return copies == 0 ? all : at::cat({all, all.narrow(0, 0, 1).expand({copies, -1})});
  };
  return {with_copies(at::constant_pad_nd(sentences.ids, {0, missing}, data::kPaddingToken)),
          with_copies(at::constant_pad_nd(padding, {0, missing}, true))};
}

}  // namespace

data::ParallelBatch rounded_pairs(data::ParallelBatch batch, const PairLimits& limits) {
  const int64_t pairs = batch.source.ids.size(0);
  const int64_t source = batch.source.ids.size(1), target = batch.target.ids.size(1);
  int64_t length = std::max(source, target);
  const int64_t rounded = (length + kLengthMultiple - 1) / kLengthMultiple * kLengthMultiple;
  if (pairs <= most_pairs(rounded, limits)) length = rounded;
  const int64_t copies = most_pairs(length, limits) - pairs;
  if (pairs == 0 || copies < 0) return batch;  // there is nothing to copy, or the limits are not those of this batch
  batch.source = padded_sentences(batch.source, std::max(source, std::min(length, limits.source_length)), copies);
  const int64_t target_length = std::max(target, std::min(length, limits.target_length));
  batch.input = padded_sentences(batch.input, target_length, copies);
  batch.target = padded_sentences(batch.target, target_length, copies);
  batch.target.padding.narrow(0, pairs, copies).fill_(true);
  return batch;
}

}  // namespace cachet::tasks
