#pragma once

#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// Objects as bitmaps (n, H, W), bool or numbers, above 0 where an object is, in pixels of the batch's image: what
/// ops::roi_align reads of them within a box, cut off at the bitmap's border, from one half on 1.
MaskTargets bitmap_mask_targets(const at::Tensor& bitmaps);

}  // namespace cachet::models
