#pragma once

#include <memory>

#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/ops/support/finite.h"
#include "cachet/runtime/session.h"

namespace cachet::deploy {

// Models whose forward pass runs an inference session, so that exported models can be evaluated, timed and used for
// predictions. Session models have no parameters or gradients, and take CPU tensors. Their calls throw ExportNotFinite.

/// The error for scores of an exported model that are NaN or infinite.
class ExportNotFinite : public ops::NotFinite {
 public:
  ExportNotFinite();
};

/// Makes a classifier of images from a session.
std::shared_ptr<models::ImageClassifier> session_model(std::unique_ptr<runtime::Session> session,
                                                       const models::ImageShape& image, int64_t classes);

/// Makes a classifier of sequences from a session. `fixed_length`: the fixed length of an export's sequences, or 0.
/// Sequences that are shorter than the fixed length are padded to the fixed length.
std::shared_ptr<models::SequenceClassifier> session_model(std::unique_ptr<runtime::Session> session,
                                                          const models::SequenceShape& sequence, int64_t classes,
                                                          int64_t fixed_length);

}  // namespace cachet::deploy
