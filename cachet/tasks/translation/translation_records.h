#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

/// Values of one pair of sentences, which an evaluation sums over the pairs.
struct PairLosses {
  int64_t pair = 0, tokens = 0;  // index in the split; number of predicted tokens of the target, with the end token
  double loss = 0, nll = 0;      // sum of −log p of these tokens, in nats: loss for smoothed targets, nll for targets
};

/// Sums loss, nll and targets (each (B, T)) of each pair in a batch; target −1 does not count. The function adds the
/// losses token after token, so that the bits of the sums do not depend on the number of threads.
std::vector<PairLosses> losses_of_pairs(const std::vector<int64_t>& pairs, const at::Tensor& loss,
                                        const at::Tensor& nll, const at::Tensor& targets);

/// The tokens of a source sentence's translation. The last token is the end token. If there are no source words, the
/// translation is empty.
struct WrittenTranslation {
  int64_t pair = 0;
  std::vector<int64_t> tokens{};
};

/// Returns {"index":0,"sample":17,"tokens":9,"loss":20.5,"nll":18.25}. `index` is the sample's position in the order of
/// the evaluation. When a record is read, its numbers have exactly the bits with which they were written.
Record losses_record(const PairLosses& losses, int64_t index);
/// Returns {"index":40,"sample":17,"translation":[5,9,2],"text":"a dog"}. Cachet does not read the member "text", which
/// is for people.
Record translation_record(const WrittenTranslation& written, int64_t index, const std::string& text);

/// Reads the losses of a pair from the record with the index `index`. Throws std::runtime_error if the pair does not
/// exist, or if tokens are not in the vocabulary.
PairLosses losses_from_record(const Record& record, int64_t index, int64_t pairs);
WrittenTranslation translation_from_record(const Record& record, int64_t index, int64_t pairs, int64_t vocabulary);

}  // namespace cachet::tasks
