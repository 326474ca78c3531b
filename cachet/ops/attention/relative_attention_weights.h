#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Returns the weights of attention to relative positions (Dai et al., arXiv 1901.02860, Sec. 3.3 and App. B):
///   weights = softmax(scale·(content + shift(position)))   over the visible keys, 0 if all keys are hidden
///
/// content (B, H, Lq, Lk): the products of queries and keys; the last key is the last query's own token, and Lk ≥ Lq.
/// position (B, H, Lq, Lk): the products of queries and distances, with distance Lk − 1 − c in column c. shift gives
/// query i at key j the column of its own distance, j + Lq − 1 − i. Keys after the query get the values of the
/// published code's shift: 0 for the next key, then the next query's columns from the left. hidden (Lq, Lk) bool: the
/// keys that a query does not see; absent: none. The result has the shape and dtype of content. It is differentiable in
/// content and position, twice only in the unfused form. Throws c10::Error if shapes do not agree.
at::Tensor relative_attention_weights(const at::Tensor& content, const at::Tensor& position,
                                      const std::optional<at::Tensor>& hidden, double scale);

}  // namespace cachet::ops
