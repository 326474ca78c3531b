#pragma once

#include <string>

#include "cachet/data/split_overlap.h"
#include "cachet/data/vision/image_source.h"

namespace cachet::data {

/// Finds evaluation images that are also training images: files with equal bytes, or images in memory with equal
/// pixels. For files, the first comparison uses only the sizes. If two files have the same size, the middle 4 KiB of
/// both files are compared, and if these bytes are equal, all bytes. A file that cannot be read counts as different
/// from every other file. `split` is the name of the evaluation split.
SplitOverlap image_overlap(const ImageSource& training, const ImageSource& evaluation, const std::string& split,
                           const LookProgress& progress = {});

}  // namespace cachet::data
