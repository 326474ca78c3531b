#pragma once

#include <memory>

#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/ops/support/finite.h"
#include "cachet/runtime/session.h"

namespace cachet::deploy {

// Models whose forward pass is a session, so that exported models can be evaluated, used for predictions and timed.
// They have no parameters and no gradients, and take tensors on the CPU. Their calls throw ExportNotFinite.

/// The error for scores of an exported model that are NaN or infinite.
class ExportNotFinite : public ops::NotFinite {
 public:
  ExportNotFinite();
};

/// Makes a classifier of images.
std::shared_ptr<models::ImageClassifier> session_model(std::unique_ptr<runtime::Session> session,
                                                       const models::ImageShape& image, int64_t classes);

/// Makes a classifier of sequences. `fixed_length`: the length of exports that have a fixed one, else 0. Shorter
/// sequences are padded to it.
std::shared_ptr<models::SequenceClassifier> session_model(std::unique_ptr<runtime::Session> session,
                                                          const models::SequenceShape& sequence, int64_t classes,
                                                          int64_t fixed_length);

}  // namespace cachet::deploy
