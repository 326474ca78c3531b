#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

/// In training, x with each element set to 0 with probability p and divided by 1 − p otherwise; else x itself. On the
/// CPU the dropped elements are a function of each element's index and one number from LibTorch's generator, and do not
/// depend on the number of threads or on the dtype; no mask is saved for the backward pass, which computes it again.
/// Elsewhere it is at::dropout. Differentiable any number of times. Throws c10::Error where p is not in [0, 1].
at::Tensor dropout(const at::Tensor& x, double p, bool training);

}  // namespace cachet::ops
