#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// A rectangle of a mask, with its upper left corner at (y, x). The mask is 0 outside of the rectangle.
struct PastedMask {
  at::Tensor mask;  // (h, w) bool
  int64_t y = 0, x = 0;
};

/// scores (side, side) of a box (4) -> the object's pixels in an image of this size. Scores are interpolated between
/// the centres of their cells, and are 0 beyond the box. A pixel belongs to the object if the score at its centre is at
/// least `threshold`. Returns the smallest rectangle that the box can reach, cut off at the image's border.
PastedMask paste_mask(const at::Tensor& scores, const at::Tensor& box, const ImageSize& size, double threshold = 0.5);

/// scores (n, side, side), boxes (n, 4) -> (n, height, width) bool. If an image has a hundred objects, which are coded
/// one by one, paste_mask() needs a hundredth of this memory.
at::Tensor paste_masks(const at::Tensor& scores, const at::Tensor& boxes, const ImageSize& size,
                       double threshold = 0.5);

}  // namespace cachet::models
