#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::nn {

/// Drops the whole branch of a sample with probability `rate` in training, and scales the others by 1/(1 − rate)
/// (Huang et al., arXiv 1603.09382). branch (B, …).
at::Tensor stochastic_depth(const at::Tensor& branch, double rate, bool training);

}  // namespace cachet::nn
