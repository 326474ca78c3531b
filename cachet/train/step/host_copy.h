#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cachet::train {

/// The name by which profilers show a call of copy_to_host().
inline constexpr const char* kHostCopy = "cachet::copy_to_host";

/// Returns the values of scalars and vectors of any types and devices, concatenated. Reads all values at once, so that
/// the host waits for a device only once. Returns 0 for each value of a tensor on the meta device.
std::vector<double> copy_to_host(const std::vector<at::Tensor>& tensors);

}  // namespace cachet::train
