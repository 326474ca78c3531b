#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {

/// Returns COCO's first number (AP over all overlaps and sizes, with 100 detections per image) for a set that contains
/// copies of images. `times`: number of copies of each image, in the order of the ids. Copies of an image count as
/// separate images, but their detections of equal score are adjacent in the ranking. If each image occurs once, the
/// result equals that of summarize() bit for bit. Returns −1 if there are no objects. Throws under the same conditions
/// as summarize(). Also throws std::invalid_argument if the length of `times` is not the number of images.
double average_precision(std::span<const ImageVerdicts> images, int32_t categories, std::span<const uint32_t> times);

/// Returns the standard error of COCO's AP by bootstrap over images: the deviation of AP over 100 sets of images, which
/// are drawn with replacement (Efron 1979) and as large as `images`. With 100 sets, the estimate of the standard error
/// has a relative error of 7 %. In a resampled set of images, categories without objects are ignored, as in COCO. The
/// order of images and the thread count have no effect. Returns an empty value if there are fewer than two images, or
/// if fewer than two of the 100 resampled sets have an object. Errors: see summarize().
std::optional<double> average_precision_error(std::span<const ImageVerdicts> images, int32_t categories,
                                              int threads = 1);

}  // namespace cachet::metrics
