#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Resizes a token sequence by nearest-neighbour interpolation: out_i = tokens_⌊i·T/length⌋. T is the number of
/// valid tokens of the sample, so that padding has no effect (Cached Transformers, arXiv 2312.12742, appendix).
///
/// tokens (B, L, C); padding (B, L) bool, true = padding, at any positions; valid tokens stay in their order.
/// Returns (B, length, C); a sample without valid tokens gives zeros. Differentiable in tokens.
/// Throws c10::Error if tokens or padding has a wrong rank or dtype, or if length or L is below 1.
at::Tensor resize_tokens(const at::Tensor& tokens, int64_t length, const std::optional<at::Tensor>& padding = {});

}  // namespace cachet::ops
