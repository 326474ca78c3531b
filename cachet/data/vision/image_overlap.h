#pragma once

#include <string>

#include "cachet/data/split_overlap.h"
#include "cachet/data/vision/image_source.h"

namespace cachet::data {

/// Finds evaluation images that are also training images: files of equal bytes, or images in memory of equal pixels.
/// Of files, first only the sizes are compared, then 4 KiB of those with a size that is in both splits, then all
/// bytes of those that are still equal. An unreadable file equals no other. `split` is the name of the evaluation
/// split.
SplitOverlap image_overlap(const ImageSource& training, const ImageSource& evaluation, const std::string& split,
                           const LookProgress& progress = {});

}  // namespace cachet::data
