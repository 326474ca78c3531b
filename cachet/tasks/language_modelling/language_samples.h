#pragma once

#include <vector>

#include "cachet/data/text/corpora/token_sequence.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/models/language/language_model.h"
#include "cachet/tasks/language_modelling/language_evaluation.h"

namespace cachet::tasks {

/// Passages at equal distances in a text, and their continuations by a model in evaluation mode, drawn from its
/// likelier tokens with a seed of its own: the same for the same weights. Fewer than `count` where
/// the text is short.
std::vector<WrittenSample> write_samples(models::LanguageModel& model, const models::SegmentOptions& segments,
                                         const data::TokenSequence& text, const data::TextEncoder& encoder,
                                         int64_t count);

}  // namespace cachet::tasks
