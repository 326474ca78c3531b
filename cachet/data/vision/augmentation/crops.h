#pragma once

#include <cstdint>

#include "cachet/data/random.h"
#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/io/images/image_request.h"

namespace cachet::data {

/// Draws a region of an image. Its fraction of the area and the logarithm of its aspect are uniform. If ten draws do
/// not fit, returns the largest region in the middle whose aspect is within the bounds.
io::ImageRegion draw_resized_crop(const ResizedCropOptions& options, const io::ImageSize& image, CounterRandom random);

/// The crop of an image in evaluation: `region` of it is resized to `resized`, and the crop begins at (top, left) of
/// the result.
struct CentreCrop {
  io::ImageRegion region;
  io::ImageSize resized;
  int64_t top = 0, left = 0;
};

/// Resizes in proportion to the smallest image that covers ⌊crop / fraction⌋ on both sides. For a square crop, the
/// shorter side gets this length. The other side is rounded down, the crop's corner to the nearest even, as in
/// torchvision. The region is the whole image, or its middle if the image is four times as long as in the crop's
/// proportions: so a pixel's line does not become a gigabyte.
CentreCrop centre_crop(const io::ImageSize& image, const TargetSize& crop, double fraction);

}  // namespace cachet::data
