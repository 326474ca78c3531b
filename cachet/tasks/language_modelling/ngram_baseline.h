#pragma once

#include <string>
#include <vector>

#include "cachet/data/text/corpora/token_sequence.h"
#include "cachet/data/text/encoders/vocabulary.h"

namespace cachet::tasks {

/// The perplexity of a Kneser–Ney 5-gram model of the training text: the baseline that a language model must beat.
struct NgramBaseline {
  static constexpr int64_t kOrder = 5;
  static constexpr int64_t kMaxTrainingTokens = 20'000'000;  // the computation takes about 2 GiB of memory

  double perplexity = 0;             // 0 if there is no baseline
  std::vector<std::string> notes{};  // lines for the user: why there is no baseline, or its special properties
  bool operator==(const NgramBaseline&) const = default;
};

/// Computes the baseline. Token ids are below `vocabulary`. `line_end` is the token that ends a line. If the training
/// text is longer than kMaxTrainingTokens, returns a note instead of a perplexity.
NgramBaseline ngram_baseline(const data::TokenSequence& training, const data::TokenSequence& held_out,
                             int64_t vocabulary, data::Token line_end);

/// Returns a result with only a note: `why` ends the sentence "there is no 5-gram baseline: ".
NgramBaseline no_ngram_baseline(const std::string& why);

}  // namespace cachet::tasks
