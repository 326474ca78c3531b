#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

struct RoiAlignOptions {
  int64_t height = 7, width = 7;  // number of bins of the result
  double scale = 1.0;             // factor from box coordinates to cells of the map: 1/stride
  /// Number of samples along a side of a bin; 0: the length of a bin's side in cells, rounded up.
  int64_t sampling = 0;
};

/// Crops boxes out of a map, at a fixed size (He et al., Mask R-CNN, arXiv 1703.06870, Sec. 3), aligned: coordinates
/// refer to pixel corners, so that the centre of the map's first cell is at 0.5. A bin is the mean of its
/// samples, each interpolated between four cells. A sample at most one cell outside of the map reads the border, a
/// sample further outside is 0. If `sampling` is fixed, a box without a side reads one point, and a box with a
/// negative side reads the points of the upright box in reverse, as in torchvision; otherwise both are 0. A box
/// with a NaN coordinate gives 0.
///
/// map (N, C, H, W) floating, H and W at least 1; boxes (K, 5) float32 or float64: image, x0, y0, x1, y1. Boxes of both
/// dtypes are computed in float64. Returns (K, C, height, width) in the dtype of the map, in channels_last.
/// Differentiable in the map, any number of times; boxes have no gradient. The order of sums does not depend on the
/// number of threads. Under autocast, the map is converted to the autocast dtype. Throws c10::Error for other shapes
/// and, on the CPU, if a box's image does not exist.
at::Tensor roi_align(const at::Tensor& map, const at::Tensor& boxes, const RoiAlignOptions& options);

}  // namespace cachet::ops
