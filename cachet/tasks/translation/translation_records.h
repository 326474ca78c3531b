#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

/// What an evaluation sums up of a pair of sentences.
struct PairLosses {
  int64_t pair = 0, tokens = 0;  // of the split; predicted tokens of the target, with its end
  double loss = 0, nll = 0;      // their −log p together, of smoothed targets and of the targets alone, in nats
};

/// loss, nll and targets (B, T) of the pairs in a batch; target −1 does not count. Summed token by token, so that the
/// bits do not depend on threads.
std::vector<PairLosses> losses_of_pairs(const std::vector<int64_t>& pairs, const at::Tensor& loss,
                                        const at::Tensor& nll, const at::Tensor& targets);

/// What was written for a source sentence: tokens, the end the last of them; none where there is nothing to translate.
struct WrittenTranslation {
  int64_t pair = 0;
  std::vector<int64_t> tokens{};
};

/// {"index":0,"sample":17,"tokens":9,"loss":20.5,"nll":18.25}. `index` is the position in the order of the evaluation.
/// Numbers that are read back have the same bits.
Record losses_record(const PairLosses& losses, int64_t index);
/// {"index":40,"sample":17,"translation":[5,9,2],"text":"a dog"}: the tokens are what counts, the text is for people.
Record translation_record(const WrittenTranslation& written, int64_t index, const std::string& text);

/// Back from a record of that number. Throws std::runtime_error for a pair that does not exist, or tokens beyond the
/// vocabulary.
PairLosses losses_from_record(const Record& record, int64_t index, int64_t pairs);
WrittenTranslation translation_from_record(const Record& record, int64_t index, int64_t pairs, int64_t vocabulary);

}  // namespace cachet::tasks
