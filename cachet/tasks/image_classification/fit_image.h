#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/models/registry.h"

namespace cachet::tasks {

/// An image (H, W, 1 or 3) uint8 as a model takes it: (1, C, H', W') float32 with pixels in [0, 1], resized
/// bicubically; grey for one channel.
at::Tensor fit_image(const at::Tensor& image, const models::ImageShape& shape);

}  // namespace cachet::tasks
