#pragma once

#include <cstdint>
#include <optional>

#include "cachet/models/language/beam_search.h"
#include "cachet/models/language/token_sampling.h"

namespace cachet::tasks {

/// How sentences become translations: by beam search or, with `sampling`, by beam.n_best draws. Evaluations, lines that
/// a user gives and benchmarks all use it.
struct TranslationOptions {
  models::BeamOptions beam{};
  std::optional<models::SamplingOptions> sampling{};
  uint64_t seed = 0;          // of the draws
  int64_t max_tokens = 4096;  // source tokens of the sentences in one batch, padding included
  int64_t lines = 256;        // lines that are read before the first is translated, so that like lengths form a batch
};

/// Throws std::invalid_argument that names the option.
void check_translation(const TranslationOptions& options);

}  // namespace cachet::tasks
