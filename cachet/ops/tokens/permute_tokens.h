#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

/// Tokens in another order, some left out, zeros between them: out[b, i] = x[b, index[i]], 0 where index[i] is −1. One
/// pass over memory for what partitions into windows (Swin, arXiv 2103.14030: shift, padding, cut), what puts them
/// together again, and what lays patches of tokens side by side.
///
/// x (B, N, C) of any dtype; index (M) int64 in [−1, N), no token twice; inverse (N) int64 in [−1, M): where each token
/// went, −1 for those left out. Returns (B, M, C). The gradient is the same operator with the two exchanged,
/// differentiable any number of times. Throws c10::Error when an index is out of range or the sizes do not fit.
at::Tensor permute_tokens(const at::Tensor& x, const at::Tensor& index, const at::Tensor& inverse);

}  // namespace cachet::ops
