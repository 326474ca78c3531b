#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

/// In training, sets each element of x to 0 with probability p, or else divides it by 1 − p. In evaluation, returns x.
/// On the CPU, the dropped elements depend on their indices and on one number from LibTorch's generator, but not on the
/// number of threads or the dtype. No mask is saved: the backward pass computes the mask again. Other devices use
/// at::dropout. Differentiable any number of times. Throws c10::Error unless p is in [0, 1].
at::Tensor dropout(const at::Tensor& x, double p, bool training);

}  // namespace cachet::ops
