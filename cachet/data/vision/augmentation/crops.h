#pragma once

#include <cstdint>

#include "cachet/data/random.h"
#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/io/images/image_request.h"

namespace cachet::data {

/// A random region of an image: its fraction of the area and the logarithm of its aspect are uniform. If ten draws do
/// not fit, it is the largest region in the middle whose aspect is within the bounds.
io::ImageRegion draw_resized_crop(const ResizedCropOptions& options, const io::ImageSize& image, CounterRandom random);

/// How an image is shown in evaluation: `region` of it, resized to `resized`, of which as much as is wanted is taken
/// from (top, left).
struct CentreCrop {
  io::ImageRegion region;
  io::ImageSize resized;
  int64_t top = 0, left = 0;
};

/// The image is resized to the smallest of its proportions that covers ⌊crop / fraction⌋ on both sides: of a square
/// crop the shorter side becomes that. The other side is rounded down, the crop's corner to the nearest even, as
/// torchvision does. The region is the whole image, unless that is four times as long as the crop's proportions have
/// it: then its middle, so that a line of a pixel does not become a gigabyte.
CentreCrop centre_crop(const io::ImageSize& image, const TargetSize& crop, double fraction);

}  // namespace cachet::data
