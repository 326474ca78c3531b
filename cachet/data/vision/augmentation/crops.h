#pragma once

#include <cstdint>

#include "cachet/data/random.h"
#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/io/images/image_request.h"

namespace cachet::data {

/// Chooses a region of an image at random. The fraction of the image area and the logarithm of the aspect are uniformly
/// distributed random numbers. If ten randomly drawn regions do not fit into the image, returns the largest region in
/// the middle of the image whose aspect is within the bounds.
io::ImageRegion draw_resized_crop(const ResizedCropOptions& options, const io::ImageSize& image, CounterRandom random);

/// The crop of an image in evaluation. The part `region` of the image is resized to the size `resized`. The crop begins
/// at (top, left) of the resized part.
struct CentreCrop {
  io::ImageRegion region;
  io::ImageSize resized;
  int64_t top = 0, left = 0;
};

/// Determines the crop of an image. The image is resized without distortion to the smallest size that covers ⌊crop /
/// fraction⌋ on both sides. If the crop is square, the shorter side of the image gets the length ⌊crop / fraction⌋. As
/// in torchvision, a side that is longer than ⌊crop / fraction⌋ is rounded down, and the crop's corner is rounded half
/// to even. If the image is more than four times as long as the crop's proportions require, only its middle is resized,
/// because the resized image of one row of pixels could need a gigabyte of memory.
CentreCrop centre_crop(const io::ImageSize& image, const TargetSize& crop, double fraction);

}  // namespace cachet::data
