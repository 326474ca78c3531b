#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Weights of attention to relative positions (Dai et al., arXiv 1901.02860, Sec. 3.3 and App. B):
///   weights = softmax(scale·(content + shift(position)))   over the keys that are not hidden, 0 where all are
///
/// content (B, H, Lq, Lk): the products of queries and keys, the last key being the last query's own token, Lk ≥ Lq.
/// position (B, H, Lq, Lk): the products of queries and distances, column c for Lk − 1 − c tokens. shift gives query i
/// at key j the column of its own distance, j + Lq − 1 − i; keys ahead of the query get what the published code's shift
/// leaves there: 0 for the next one, then the next query's columns from the left. hidden (Lq, Lk) bool: the keys that a
/// query does not see, none where it is not given. Returns the shape and dtype of content. Differentiable in content
/// and position, twice only in the unfused form. Throws c10::Error when shapes do not agree.
at::Tensor relative_attention_weights(const at::Tensor& content, const at::Tensor& position,
                                      const std::optional<at::Tensor>& hidden, double scale);

}  // namespace cachet::ops
