#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

// RoI align on the CPU, in float32 and bfloat16 (ops/detection/roi_align.h has the formulas). Operands were checked;
// boxes (K, 5) are float64 and dense, each of an image that exists.

/// (K, C, height, width), channels last.
at::Tensor roi_align_forward(const at::Tensor& map, const at::Tensor& boxes, int64_t height, int64_t width,
                             double scale, int64_t sampling);

/// The gradient of a map of sizes `map` (N, C, H, W), channels last.
at::Tensor roi_align_gradient(const at::Tensor& grad, const at::Tensor& boxes, c10::IntArrayRef map, double scale,
                              int64_t sampling);

}  // namespace cachet::ops
