#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Returns the weights of attention to relative positions (Dai et al., arXiv 1901.02860, Sec. 3.3 and Appendix B):
///   weights = softmax(scale·(content + shift(position)))   over the visible keys; 0 if all keys are hidden.
///
/// content (B, H, Lq, Lk): the products of queries and keys. The last key and the last query belong to the same token,
/// and Lk ≥ Lq. The tensor `position` (B, H, Lq, Lk) has the products of queries and distances: column c is for the
/// distance Lk − 1 − c. For query i and key j, shift takes column j + Lq − 1 − i, which is for the distance from i to
/// j. For keys after query i, shift gives the published code's values: 0 for the first such key, then row i + 1 of
/// `position` from column 0 on. The tensor `hidden` (Lq, Lk) bool marks the keys that a query does not see; if it is
/// absent, all keys are visible. The result has the shape and dtype of `content`. The result is differentiable in
/// `content` and `position`. Only the unfused form is differentiable twice. Throws c10::Error if shapes do not agree.
at::Tensor relative_attention_weights(const at::Tensor& content, const at::Tensor& position,
                                      const std::optional<at::Tensor>& hidden, double scale);

}  // namespace cachet::ops
