#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace cachet::nn {

/// Splits a projection of tokens into n parts (queries, keys, values): (B, L, n·H·d) -> n tensors (B, H, L, d).
std::vector<torch::Tensor> split_heads(const torch::Tensor& x, int64_t n, int64_t heads, int64_t head_dim);

}  // namespace cachet::nn
