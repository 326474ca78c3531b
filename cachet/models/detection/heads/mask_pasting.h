#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// The rectangle of an image in which a mask may be above 0. The upper left corner of the rectangle is at pixel (y, x)
/// of the image.
struct PastedMask {
  at::Tensor mask;  // (h, w) bool
  int64_t y = 0, x = 0;
};

/// Maps scores (side, side) of a box (4) to pixels of an image of the size `size`. Scores are interpolated between the
/// centres of cells, and are 0 beyond the box. A pixel is part of the object if the score at its centre is at least
/// `threshold`. Returns the mask only for the pixels that the box can touch within the image.
PastedMask paste_mask(const at::Tensor& scores, const at::Tensor& box, const ImageSize& size, double threshold = 0.5);

/// scores (n, side, side), boxes (n, 4) -> (n, height, width) bool. If an image has a hundred objects that are encoded
/// one by one, paste_mask() needs a hundredth of the memory of paste_masks().
at::Tensor paste_masks(const at::Tensor& scores, const at::Tensor& boxes, const ImageSize& size,
                       double threshold = 0.5);

}  // namespace cachet::models
