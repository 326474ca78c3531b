#pragma once

#include <vector>

#include "cachet/models/language/decoding.h"

namespace cachet::models {

/// Translates sentences with the most probable token at each step (of equally probable tokens, the lowest). Returns one
/// translation for each sentence, equal to the result of a beam search with a beam of one.
std::vector<Hypothesis> greedy_decoding(TranslationModel& model, const Sequences& source,
                                        const LengthLimits& limits = {}, double length_penalty = 1.0);

}  // namespace cachet::models
