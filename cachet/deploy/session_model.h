#pragma once

#include <memory>

#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/ops/support/finite.h"
#include "cachet/runtime/session.h"

namespace cachet::deploy {

// Models whose forward pass is a session, so that whatever evaluates, predicts or times models does so with an exported
// one. They have no parameters and no gradients, and take tensors on the CPU. Their calls throw ExportNotFinite.

/// The scores of an exported model are NaN or infinite.
class ExportNotFinite : public ops::NotFinite {
 public:
  ExportNotFinite();
};

/// A classifier of images.
std::shared_ptr<models::ImageClassifier> session_model(std::unique_ptr<runtime::Session> session,
                                                       const models::ImageShape& image, int64_t classes);

/// A classifier of sequences. `fixed_length`: of exports whose length is fixed, that length; shorter sequences are
/// filled with padding. 0 else.
std::shared_ptr<models::SequenceClassifier> session_model(std::unique_ptr<runtime::Session> session,
                                                          const models::SequenceShape& sequence, int64_t classes,
                                                          int64_t fixed_length);

}  // namespace cachet::deploy
