#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cachet/models/model.h"
#include "cachet/models/vision/image_shape.h"

namespace cachet::models {

/// A model that reads images.
class ImageModel : public virtual Model {
 public:
  ImageModel() = default;
  virtual ImageShape image_shape() const = 0;  // image size of the model

 protected:
  ImageModel(const ImageModel&) = default;
  ImageModel& operator=(const ImageModel&) = default;

  /// Returns synthetic images (batch, C, H, W) of the model's image size.
  at::Tensor noise(int64_t batch, const torch::TensorOptions& options) const;
};

}  // namespace cachet::models
