#pragma once

#include <vector>

#include "cachet/models/language/decoding.h"

namespace cachet::models {

/// Takes the most probable token at each step, of equal ones the lowest. Returns one translation for each
/// sentence, the same as a beam of one finds.
std::vector<Hypothesis> greedy_decoding(TranslationModel& model, const Sequences& source,
                                        const LengthLimits& limits = {}, double length_penalty = 1.0);

}  // namespace cachet::models
