#pragma once

#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// Returns the mask targets of bitmaps (n, H, W) of objects, bool or numbers, above 0 on an object, in pixels of the
/// batch. ops::roi_align samples them within a box, clipped to the bitmap. Values of at least 0.5 become 1.
MaskTargets bitmap_mask_targets(const at::Tensor& bitmaps);

}  // namespace cachet::models
