#pragma once

#include <cstdint>

#include "cachet/data/random.h"
#include "cachet/data/vision/augmentation_options.h"
#include "cachet/io/image_request.h"

namespace cachet::data {

/// A random region of an image: its share of the area and the logarithm of its aspect are uniform. If ten draws do not
/// fit, it is the largest region in the middle whose aspect is within the bounds.
io::ImageRegion draw_resized_crop(const ResizedCropOptions& options, const io::ImageSize& image, CounterRandom random);

/// How an image is shown in evaluation: `region` of it, resized to `resized`, of which a square of `crop` pixels from
/// (top, left) is taken.
struct CentreCrop {
  io::ImageRegion region;
  io::ImageSize resized;
  int64_t top = 0, left = 0;
};

/// The shorter side becomes ⌊crop / fraction⌋, the longer keeps the proportion (rounded down), and the crop's corner is
/// rounded to the nearest even, as torchvision does. The region is the whole image, unless that is longer than four
/// times its width: then its middle, so that a line of a pixel does not become a gigabyte.
CentreCrop centre_crop(const io::ImageSize& image, int64_t crop, double fraction);

}  // namespace cachet::data
