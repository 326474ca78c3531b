#pragma once

#include <vector>

#include "cachet/models/language/decoding.h"

namespace cachet::models {

/// The most probable token after each other, the lowest of equal ones: one translation a sentence, which is what a beam
/// of one finds.
std::vector<Hypothesis> greedy_decoding(TranslationModel& model, const Sequences& source,
                                        const LengthLimits& limits = {}, double length_penalty = 1.0);

}  // namespace cachet::models
