#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cachet::nn {

/// In training, drops the branch of each sample with probability `rate`, and scales all other branches by 1/(1 − rate)
/// (Huang et al., arXiv 1603.09382). branch (B, …).
at::Tensor stochastic_depth(const at::Tensor& branch, double rate, bool training);

/// Returns the rate of stochastic depth of a block. From the first block to the last block, the rates rise linearly
/// from 0 to `last`.
double stochastic_depth_of(double last, int64_t block, int64_t blocks);

}  // namespace cachet::nn
