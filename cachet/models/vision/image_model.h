#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cachet/models/model.h"
#include "cachet/models/vision/image_shape.h"

namespace cachet::models {

/// A model of images.
class ImageModel : public virtual Model {
 public:
  ImageModel() = default;
  virtual ImageShape image_shape() const = 0;  // the size that it was made for

 protected:
  ImageModel(const ImageModel&) = default;
  ImageModel& operator=(const ImageModel&) = default;

  /// Synthetic images (batch, C, H, W) of that size.
  at::Tensor noise(int64_t batch, const torch::TensorOptions& options) const;
};

}  // namespace cachet::models
