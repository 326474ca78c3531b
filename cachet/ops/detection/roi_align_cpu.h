#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

// RoI align on the CPU, in float32 and bfloat16 (ops/detection/roi_align.h has the formulas). Callers check the
// operands. boxes (K, 5) are float64 and dense, and the image of each box exists.

/// Returns (K, C, height, width) in channels_last.
at::Tensor roi_align_forward(const at::Tensor& map, const at::Tensor& boxes, int64_t height, int64_t width,
                             double scale, int64_t sampling);

/// Returns the gradient of the map, in channels_last. `map`: the sizes (N, C, H, W) of the map.
at::Tensor roi_align_gradient(const at::Tensor& grad, const at::Tensor& boxes, c10::IntArrayRef map, double scale,
                              int64_t sampling);

}  // namespace cachet::ops
