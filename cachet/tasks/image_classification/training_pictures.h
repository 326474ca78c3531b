#pragma once

#include <cstdint>

#include "cachet/data/vision/augmentation/mixing.h"
#include "cachet/data/vision/image_loader.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/report/content.h"

namespace cachet::tasks {

/// The first images of a run's first batch as the model gets them: resized, augmented, mixed, and back in pixels. Below
/// each are the classes of its target, and their fractions if it has several. A function of the seed, which is the
/// run's; only images that are shown, and those that are mixed into them, are read. Without pictures where images have
/// neither one nor three channels. Throws what the loader would throw.
report::ImageGrid training_pictures(const data::ImageLoader& loader, const data::Normalization& normalization,
                                    const data::MixingOptions& mixing, uint64_t seed);

}  // namespace cachet::tasks
