#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

// RoI align on the CPU, in float32 and bfloat16 (ops/detection/roi_align.h has the formulas). Operands are already
// checked. boxes (K, 5) are float64 and dense, each with an image that exists.

/// Returns (K, C, height, width) in channels_last.
at::Tensor roi_align_forward(const at::Tensor& map, const at::Tensor& boxes, int64_t height, int64_t width,
                             double scale, int64_t sampling);

/// Returns the gradient of a map of sizes `map` (N, C, H, W), in channels_last.
at::Tensor roi_align_gradient(const at::Tensor& grad, const at::Tensor& boxes, c10::IntArrayRef map, double scale,
                              int64_t sampling);

}  // namespace cachet::ops
