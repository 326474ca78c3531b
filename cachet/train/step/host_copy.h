#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cachet::train {

/// The name of a call of copy_to_host() in profilers.
inline constexpr const char* kHostCopy = "cachet::copy_to_host";

/// Returns the values of scalars and vectors of any types and devices, concatenated, in one read: for values on a
/// device, the host waits only once. Values on the meta device, which has none, are 0.
std::vector<double> copy_to_host(const std::vector<at::Tensor>& tensors);

}  // namespace cachet::train
