#pragma once

#include "cachet/models/language/sequence_classifier.h"

namespace cachet::tasks {

/// For an export that fills each sequence up to the longest length of the model. Throws std::runtime_error if the model
/// itself answers a sequence otherwise when padding follows it, as attention does whose pattern follows the length of
/// the batch (model.attention.pattern_length = "batch"): what is exported would then not be what the run answers.
void require_no_effect_of_padding(models::SequenceClassifier& model);

}  // namespace cachet::tasks
