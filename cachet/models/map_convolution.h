#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::models {

/// at::conv2d of maps (B, C, H, W), channels densest, with a bias or an undefined one.
///
/// Where a map is narrower than the stride, it is trained in float32 under autocast, too: there oneDNN's gradient of a
/// weight in bfloat16 is wrong, and often not finite (LibTorch 2.13 on processors with AVX-512).
at::Tensor convolve_map(const at::Tensor& map, const at::Tensor& weight, const at::Tensor& bias, int64_t stride,
                        int64_t padding);

}  // namespace cachet::models
