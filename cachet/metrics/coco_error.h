#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {

/// Returns COCO's first number (AP over all overlaps and sizes, with 100 detections per image) for a set that contains
/// copies of images. `times`: number of copies of each image, in the order of the ids. Copies of an image count as
/// separate images, but in the ranking by score, the copies of a detection are adjacent. If each image occurs once, the
/// result equals that of summarize() bit for bit. Returns −1 if there are no objects. Throws under the same conditions
/// as summarize(). Also throws std::invalid_argument if the length of `times` is not the number of images.
double average_precision(std::span<const ImageVerdicts> images, int32_t categories, std::span<const uint32_t> times);

/// Returns the standard error of COCO's AP by bootstrap (Efron 1979): the standard deviation of AP over 100 sets of
/// images. Each set is drawn from `images` with replacement, and has as many images as `images`. A standard error from
/// 100 sets of images has a relative error of 7 %. In a resampled set of images, categories without objects are
/// ignored, as in COCO. The order of images and the thread count have no effect. Returns an empty value if there are
/// fewer than two images, or if fewer than two of the 100 resampled sets have an object. Errors: see summarize().
std::optional<double> average_precision_error(std::span<const ImageVerdicts> images, int32_t categories,
                                              int threads = 1);

}  // namespace cachet::metrics
