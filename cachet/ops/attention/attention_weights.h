#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Returns the weights of softmax attention from query-key products (Vaswani et al., arXiv 1706.03762, Eq. 1):
/// weights = softmax(scale·scores + bias)   over the keys; 0 for a query that sees no key (a row of −∞)
///
/// scores (B, H, Lq, Lk); bias (W, H, Lq, Lk), or with 1 instead of H, Lq or Lk, where W divides B: sample b has the
/// bias b mod W, so that a window has the same bias in each image. The bias may have any floating dtype: it is added in
/// float32 or wider. The result has the shape and dtype of scores. Differentiable in scores and bias, twice only in
/// the unfused form. Throws c10::Error if shapes do not agree.
at::Tensor attention_weights(const at::Tensor& scores, const std::optional<at::Tensor>& bias, double scale);

}  // namespace cachet::ops
