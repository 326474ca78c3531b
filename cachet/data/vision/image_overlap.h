#pragma once

#include <string>

#include "cachet/data/split_overlap.h"
#include "cachet/data/vision/image_source.h"

namespace cachet::data {

/// Evaluation images that are training images, too: files of equal bytes, or equal pixels of images in memory. Of
/// files only the sizes are compared first, then 4 KiB of those whose sizes are found in both splits, and last all
/// bytes of those that are still equal. A file that cannot be read is equal to none. `split` names the evaluation
/// images.
SplitOverlap image_overlap(const ImageSource& training, const ImageSource& evaluation, const std::string& split,
                           const LookProgress& progress = {});

}  // namespace cachet::data
