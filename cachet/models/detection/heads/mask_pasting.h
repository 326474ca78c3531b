#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// The part of an image where a mask is not 0. It begins at (y, x).
struct PastedMask {
  at::Tensor mask;  // (h, w) bool
  int64_t y = 0, x = 0;
};

/// scores (side, side) of a box (4) -> the object's pixels in an image of that size. The scores are interpolated
/// between the centres of their cells, and 0 beyond the box; at a pixel's centre they must be at least `threshold`.
/// Returns the smallest rectangle that the box can reach, cut off at the image's border.
PastedMask paste_mask(const at::Tensor& scores, const at::Tensor& box, const ImageSize& size, double threshold = 0.5);

/// scores (n, side, side), boxes (n, 4) -> (n, height, width) bool. A detector may find a hundred objects in an image:
/// if they are coded one by one, paste_mask needs a hundredth of the memory.
at::Tensor paste_masks(const at::Tensor& scores, const at::Tensor& boxes, const ImageSize& size,
                       double threshold = 0.5);

}  // namespace cachet::models
