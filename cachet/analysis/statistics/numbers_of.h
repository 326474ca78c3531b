#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cachet::analysis {

/// Returns the numbers of a tensor on the host, in float64 and in row order. Waits for the device.
inline std::vector<double> numbers_of(const at::Tensor& x) {
  const at::Tensor values = x.to(at::kCPU, at::kDouble).contiguous();
  const double* begin = values.const_data_ptr<double>();
  return {begin, begin + values.numel()};
}

}  // namespace cachet::analysis
