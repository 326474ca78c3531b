#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::nn {

/// Fills a tensor in place from a normal distribution of mean 0, cut off at ±2, as vision transformers are initialised.
at::Tensor& truncated_normal_(at::Tensor& tensor, double standard_deviation = 0.02);

}  // namespace cachet::nn
