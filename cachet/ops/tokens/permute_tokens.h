#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

/// Reorders tokens, omits some, and inserts zeros between them: out[b, i] = x[b, index[i]], or 0 if index[i] is −1.
/// Examples of reorderings of tokens, each in one pass over memory: cutting a map into windows (Swin, arXiv 2103.14030:
/// shift, padding, cut), joining the windows again, and joining patches of tokens.
///
/// x (B, N, C) of any dtype; index (M) int64 in [−1, N), no token twice; inverse (N) int64 in [−1, M): the new position
/// of each token, −1 if it is omitted. Returns (B, M, C). The gradient is the same operator with index and inverse
/// exchanged, differentiable any number of times. Throws c10::Error if an index is out of range or sizes do not agree.
at::Tensor permute_tokens(const at::Tensor& x, const at::Tensor& index, const at::Tensor& inverse);

}  // namespace cachet::ops
