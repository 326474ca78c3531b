#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cachet::train {

/// How profilers name a call of copy_to_host().
inline constexpr const char* kHostCopy = "cachet::copy_to_host";

/// The values of scalars and vectors of any types and devices, concatenated, in one read: if they are on a device, the
/// host waits for it once. Values on the meta device, which has none, are 0.
std::vector<double> copy_to_host(const std::vector<at::Tensor>& tensors);

}  // namespace cachet::train
