#pragma once

#include <vector>

#include "cachet/data/text/corpora/token_sequence.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/models/language/language_model.h"
#include "cachet/tasks/language_modelling/language_evaluation.h"

namespace cachet::tasks {

/// Returns passages at equal distances in a text, and their continuations by a model in evaluation mode. The
/// continuations are sampled from the more likely tokens with a fixed seed, so equal weights give equal texts. Returns
/// fewer than `count` passages if the text is short.
std::vector<WrittenSample> write_samples(models::LanguageModel& model, const models::SegmentOptions& segments,
                                         const data::TokenSequence& text, const data::TextEncoder& encoder,
                                         int64_t count);

}  // namespace cachet::tasks
