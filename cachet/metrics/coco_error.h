#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {

/// COCO's first number (AP over all overlaps and sizes, with 100 detections an image) of a set that has each image so
/// many times: `times` in the order of the images' ids. Copies of an image are images of their own, whose detections of
/// equal scores follow each other. Of each image once it is summarize()'s, bit for bit. −1 where no object is
/// there. `images` as summarize() has them; throws as it does, and std::invalid_argument for another number of `times`.
double average_precision(std::span<const ImageVerdicts> images, int32_t categories, std::span<const uint32_t> times);

/// The standard error of that number, by bootstrap over the images: the deviation of AP over 100 sets of as many
/// images, drawn from these with replacement (Efron 1979), which is known to 7 % of itself. A category that a drawn set
/// has no object of is left out there, as COCO does it. The same for any order of the images and any number of threads.
/// Nothing of fewer than two images, or where no more than one of the sets has an object. Throws as summarize().
std::optional<double> average_precision_error(std::span<const ImageVerdicts> images, int32_t categories,
                                              int threads = 1);

}  // namespace cachet::metrics
