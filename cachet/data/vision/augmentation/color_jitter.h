#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/data/random.h"
#include "cachet/data/vision/augmentation/augmentation_options.h"

namespace cachet::data {

/// Changes brightness, contrast, saturation and hue of an image (H, W, C) uint8 by random factors, in random order.
void jitter_colours(at::Tensor& image, const ColorJitterOptions& options, CounterRandom random);

}  // namespace cachet::data
