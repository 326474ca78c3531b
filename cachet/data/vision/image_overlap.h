#pragma once

#include <string>

#include "cachet/data/split_overlap.h"
#include "cachet/data/vision/image_source.h"

namespace cachet::data {

/// Finds evaluation images that are also training images: files with equal bytes, or images in memory with equal
/// pixels. For files, only the sizes are compared first. If two files have the same size, 4 KiB of both are compared,
/// and if these are equal, all bytes. An unreadable file equals no other file. `split` is the name of the evaluation
/// split.
SplitOverlap image_overlap(const ImageSource& training, const ImageSource& evaluation, const std::string& split,
                           const LookProgress& progress = {});

}  // namespace cachet::data
