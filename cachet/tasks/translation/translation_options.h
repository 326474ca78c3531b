#pragma once

#include <cstdint>
#include <optional>

#include "cachet/models/language/beam_search.h"
#include "cachet/models/language/token_sampling.h"

namespace cachet::tasks {

/// Options for translating sentences: by beam search, or, with `sampling`, by random sampling (of beam.n_best
/// translations for each sentence). Evaluations, a user's lines and benchmarks use them.
struct TranslationOptions {
  models::BeamOptions beam{};
  std::optional<models::SamplingOptions> sampling{};
  uint64_t seed = 0;          // seed of the draws
  int64_t max_tokens = 4096;  // source tokens of the sentences in one batch, padding included
  int64_t lines = 256;        // lines that are read before the first translation, so that similar lengths form a batch
};

/// Checks the options. For an invalid option, throws std::invalid_argument with its name.
void check_translation(const TranslationOptions& options);

}  // namespace cachet::tasks
