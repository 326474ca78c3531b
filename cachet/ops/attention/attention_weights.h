#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Returns the weights of softmax attention. `scores`: the products of queries and keys (arXiv 1706.03762, Eq. 1).
/// weights = softmax(scale·scores + bias)   over the keys; 0 for a query that sees no key (all its scores are −∞).
///
/// scores (B, H, Lq, Lk); bias (W, H, Lq, Lk), where H, Lq and Lk may be 1, and W divides B. Sample b uses the bias
/// with the index b mod W, so a window has the same bias in each image. The bias may have any floating dtype and is
/// added in float32 or wider. The result has the shape and dtype of scores. Differentiable in scores and bias. Only the
/// unfused form (ATen operators) is differentiable twice. Throws c10::Error if shapes do not agree.
at::Tensor attention_weights(const at::Tensor& scores, const std::optional<at::Tensor>& bias, double scale);

}  // namespace cachet::ops
