#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::models {

/// Returns at::conv2d of maps (B, C, H, W) with dense channels (channels_last). The bias may be undefined.
///
/// If a map is narrower than the stride, training uses float32 even under autocast. For maps that are narrower than the
/// stride, oneDNN's gradient of a bfloat16 weight is wrong, and often not finite (LibTorch 2.13 on processors with
/// AVX-512).
at::Tensor convolve_map(const at::Tensor& map, const at::Tensor& weight, const at::Tensor& bias, int64_t stride,
                        int64_t padding);

}  // namespace cachet::models
