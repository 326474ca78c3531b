#include "cachet/models/vision/image_model.h"

#include <ATen/ops/randn.h>

namespace cachet::models {

at::Tensor ImageModel::noise(int64_t batch, const torch::TensorOptions& options) const {
  const ImageShape shape = image_shape();
  return at::randn({batch, shape.channels, shape.height, shape.width}, options);
}

}  // namespace cachet::models
