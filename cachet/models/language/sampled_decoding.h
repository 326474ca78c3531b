#pragma once

#include <span>
#include <vector>

#include "cachet/models/language/decoding.h"
#include "cachet/models/language/token_sampling.h"

namespace cachet::models {

/// Translates sentences by random draws, token by token. The draws of sentence i depend only on (seed, numbers[i]), not
/// on the rest of its batch. Sentences with equal numbers draw equal tokens from equal distributions. Hypotheses have
/// the model's own log-probabilities. Throws std::invalid_argument for invalid sampling options.
std::vector<Hypothesis> sampled_decoding(TranslationModel& model, const Sequences& source,
                                         std::span<const int64_t> numbers, const SamplingOptions& sampling,
                                         uint64_t seed, const LengthLimits& limits = {}, double length_penalty = 1.0);

}  // namespace cachet::models
