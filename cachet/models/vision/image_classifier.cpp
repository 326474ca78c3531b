#include "cachet/models/vision/image_classifier.h"

namespace cachet::models {

Trial ImageClassifier::trial(int64_t batch, const torch::TensorOptions& options) {
  const at::Tensor images = noise(batch, options);
  return classifier_trial([this, images] { return forward(images); }, batch, classes(), options);
}

}  // namespace cachet::models
