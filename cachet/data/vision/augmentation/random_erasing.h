#pragma once

#include "cachet/data/random.h"
#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/data/vision/image_source.h"

namespace cachet::data {

/// Erases a random rectangle of a normalised image (C, H, W) with probability options.probability. Fills the rectangle
/// with 0 (the mean colour), or with noise of standard deviation 1 from `noise`.
void erase_rectangle(float* image, const ImageShape& shape, const ErasingOptions& options, CounterRandom random,
                     CounterRandom noise);

}  // namespace cachet::data
