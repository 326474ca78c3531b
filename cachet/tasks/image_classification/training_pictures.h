#pragma once

#include <cstdint>

#include "cachet/data/vision/augmentation/mixing.h"
#include "cachet/data/vision/image_loader.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/report/content.h"

namespace cachet::tasks {

/// Returns the first images of a run's first batch as the model gets them: resized, augmented, mixed, and converted
/// back to pixels. The text below an image names the classes of its target, and the fraction of each class if there are
/// several. The result depends only on `seed`, the seed of the run. Reads only the shown images and the images that are
/// mixed into them. Returns no pictures if images have neither one nor three channels. Throws the loader's errors.
report::ImageGrid training_pictures(const data::ImageLoader& loader, const data::Normalization& normalization,
                                    const data::MixingOptions& mixing, uint64_t seed);

}  // namespace cachet::tasks
