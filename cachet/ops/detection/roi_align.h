#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

struct RoiAlignOptions {
  int64_t height = 7, width = 7;  // number of bins of the result in each direction
  double scale = 1.0;             // factor from coordinates of boxes to cells of the map: 1/stride
  /// Number of samples along a side of a bin; 0: the length of the side in cells, rounded up.
  int64_t sampling = 0;
};

/// Cuts boxes out of a map and resamples them to a fixed size (He et al., Mask R-CNN, arXiv 1703.06870, Sec. 3).
/// Coordinates refer to corners of pixels (aligned): the centre of the map's first cell is at 0.5. The value of a bin
/// is the mean of its sample points, each interpolated between four cells. A point at most one cell outside the map
/// reads the border; a point farther outside is 0. If `sampling` is above 0, a box with side 0 reads one point, and a
/// box with a negative side reads the points of the upright box in reverse, as in torchvision. If `sampling` is 0, the
/// result for a box with a side of 0 or below is 0. If a coordinate of a box is NaN, the result for this box is 0.
///
/// map (N, C, H, W) floating, H and W at least 1; boxes (K, 5) float32 or float64: image, x0, y0, x1, y1. All boxes are
/// computed in float64. Returns (K, C, height, width) in the dtype of the map, in channels_last. The result is
/// differentiable in the map, any number of times; boxes have no gradient. The order of sums does not depend on the
/// number of threads. Under autocast, the map is converted to the autocast dtype. Throws c10::Error if the map or the
/// boxes have a wrong shape, and on the CPU also if the image of a box does not exist.
at::Tensor roi_align(const at::Tensor& map, const at::Tensor& boxes, const RoiAlignOptions& options);

}  // namespace cachet::ops
