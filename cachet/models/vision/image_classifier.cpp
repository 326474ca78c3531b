#include "cachet/models/vision/image_classifier.h"

#include "cachet/nn/cache/reset_caches.h"

namespace cachet::models {

Trial ImageClassifier::trial(int64_t batch, const torch::TensorOptions& options) {
  nn::fill_caches(*this);
  const at::Tensor images = noise(batch, options);
  return classifier_trial([this, images] { return forward(images); }, batch, classes(), options);
}

}  // namespace cachet::models
