#include "cachet/models/detection/heads/mask_targets.h"

#include <ATen/ATen.h>

#include "cachet/models/detection/boxes/boxes.h"
#include "cachet/ops/detection/roi_align.h"

namespace cachet::models {

MaskTargets bitmap_mask_targets(const at::Tensor& bitmaps) {
  TORCH_CHECK(bitmaps.dim() == 3, "bitmap_mask_targets: bitmaps must be (n, H, W), got ", bitmaps.sizes());
  return [bitmaps](const at::Tensor& boxes, const at::Tensor& objects, int64_t side) {
    const ImageSize size{bitmaps.size(1), bitmaps.size(2)};
    if (boxes.size(0) == 0) return at::zeros({0, side, side}, boxes.options());
    const at::Tensor maps = (bitmaps > 0).unsqueeze(1).to(boxes.options());
    const at::Tensor within = at::cat({objects.unsqueeze(1).to(boxes.options()), clip_boxes(boxes, size)}, 1);
    return (ops::roi_align(maps, within, {side, side, 1.0, 0}).squeeze(1) >= 0.5).to(boxes.scalar_type());
  };
}

}  // namespace cachet::models
