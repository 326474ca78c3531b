#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {

/// Returns COCO's first number (AP over all overlaps and sizes, with 100 detections per image) of a set with copies of
/// images. `times`: number of copies of each image, in the order of the ids. Copies are separate images; their
/// detections of equal scores are adjacent. With each image once, equals summarize() bit for bit. −1 without objects.
/// Takes `images` and throws as summarize() does, and throws std::invalid_argument for another number of `times`.
double average_precision(std::span<const ImageVerdicts> images, int32_t categories, std::span<const uint32_t> times);

/// Returns the standard error of COCO's AP by bootstrap over the images: the deviation of AP over 100 sets of as many
/// images, drawn with replacement (Efron 1979). The relative error of this estimate is 7 %. In each set, categories
/// without objects are left out, as in COCO. The result does not depend on the order of the images or the thread count.
/// Empty if there are fewer than two images, or if at most one of the sets has an object. Throws as summarize() does.
std::optional<double> average_precision_error(std::span<const ImageVerdicts> images, int32_t categories,
                                              int threads = 1);

}  // namespace cachet::metrics
