#pragma once

#include <cstdint>
#include <optional>

#include "cachet/models/language/beam_search.h"
#include "cachet/models/language/token_sampling.h"

namespace cachet::tasks {

/// Options for translating sentences by beam search or, if `sampling` is set, by random sampling of beam.n_best
/// translations for each sentence. Evaluations, benchmarks, and translations of a user's lines use TranslationOptions.
struct TranslationOptions {
  models::BeamOptions beam{};
  std::optional<models::SamplingOptions> sampling{};
  uint64_t seed = 0;          // seed of the random sampling
  int64_t max_tokens = 4096;  // number of source tokens in one batch, including padding
  int64_t lines = 256;        // number of lines that are read before the first batch, to batch similar lengths
};

/// Checks the options. If an option is invalid, throws std::invalid_argument with the name of the option.
void check_translation(const TranslationOptions& options);

}  // namespace cachet::tasks
