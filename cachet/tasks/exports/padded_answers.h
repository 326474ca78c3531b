#pragma once

#include "cachet/models/language/sequence_classifier.h"

namespace cachet::tasks {

/// Checks that an export of a model may pad all sequences to the model's longest length. Throws std::runtime_error if
/// padding after a sequence changes the model's own result, so that the export would differ from the run. Padding
/// changes the result if the attention's pattern uses the batch's length (model.attention.pattern_length = "batch").
void require_no_effect_of_padding(models::SequenceClassifier& model);

}  // namespace cachet::tasks
