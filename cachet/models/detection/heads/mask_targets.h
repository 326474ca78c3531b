#pragma once

#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// Returns the mask targets of the objects' bitmaps (n, H, W) in pixels of the batch: bool or numbers, above 0 on the
/// object. ops::roi_align samples a bitmap within a box, clipped to the bitmap. In the target, sampled values of at
/// least 0.5 become 1.
MaskTargets bitmap_mask_targets(const at::Tensor& bitmaps);

}  // namespace cachet::models
