#pragma once

#include "cachet/models/language/sequence_classifier.h"

namespace cachet::tasks {

/// Checks a model for an export that pads each sequence to the longest length of the model. Throws std::runtime_error
/// if padding after a sequence changes the model's own result, so that the export would differ from the run. Padding
/// changes the result if the attention's pattern follows the batch's length (model.attention.pattern_length = "batch").
void require_no_effect_of_padding(models::SequenceClassifier& model);

}  // namespace cachet::tasks
