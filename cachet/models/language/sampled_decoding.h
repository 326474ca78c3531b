#pragma once

#include <span>
#include <vector>

#include "cachet/models/language/decoding.h"
#include "cachet/models/language/token_sampling.h"

namespace cachet::models {

/// Translations that are drawn token by token. What sentence i draws is a function of (seed, numbers[i]), whatever else
/// is in its batch; sentences of one number draw the same of equal distributions. A hypothesis has the model's own
/// log-probabilities. Throws std::invalid_argument for sampling options that make no sense.
std::vector<Hypothesis> sampled_decoding(TranslationModel& model, const Sequences& source,
                                         std::span<const int64_t> numbers, const SamplingOptions& sampling,
                                         uint64_t seed, const LengthLimits& limits = {}, double length_penalty = 1.0);

}  // namespace cachet::models
