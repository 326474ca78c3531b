#include "cachet/models/vision/image_classifier.h"

#include <ATen/ops/randn.h>

namespace cachet::models {

Trial ImageClassifier::trial(int64_t batch, const torch::TensorOptions& options) {
  const ImageShape shape = image_shape();
  const at::Tensor images = at::randn({batch, shape.channels, shape.height, shape.width}, options);
  return classifier_trial([this, images] { return forward(images); }, batch, classes(), options);
}

}  // namespace cachet::models
