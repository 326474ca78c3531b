#pragma once

#include <span>
#include <vector>

#include "cachet/models/language/decoding.h"
#include "cachet/models/language/token_sampling.h"

namespace cachet::models {

/// Translates sentences by sampling: one token after the other is chosen at random. The random choices for sentence i
/// depend only on (seed, numbers[i]), not on the rest of its batch. If numbers[i] = numbers[j], and the next token has
/// the same distribution in the sentences i and j, the same token is chosen for both. The score of a hypothesis is
/// computed from the model's own probabilities, not from the changed probabilities of sampling. Throws
/// std::invalid_argument for invalid sampling options.
std::vector<Hypothesis> sampled_decoding(TranslationModel& model, const Sequences& source,
                                         std::span<const int64_t> numbers, const SamplingOptions& sampling,
                                         uint64_t seed, const LengthLimits& limits = {}, double length_penalty = 1.0);

}  // namespace cachet::models
