#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <utility>
#include <vector>

namespace cachet::ops {

/// Throws c10::Error unless all tensors in `others` that are present are on the device of `first`, because kernels
/// read plain memory. The message begins with `op`.
void check_same_device(const char* op, const at::Tensor& first,
                       const std::vector<std::pair<const char*, std::optional<at::Tensor>>>& others);

}  // namespace cachet::ops
