#pragma once

#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// Returns the targets of bitmaps of objects (n, H, W), bool or numbers, above 0 on an object, in pixels of the batch.
/// ops::roi_align reads them within a box, cut off at the bitmap's border. Values from 0.5 on become 1.
MaskTargets bitmap_mask_targets(const at::Tensor& bitmaps);

}  // namespace cachet::models
