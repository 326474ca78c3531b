#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// The layout of tokens: class_tokens tokens that are not on the grid, then height × width tokens row by row.
struct TokenGrid {
  int64_t height, width, class_tokens;
};

/// The operation after a convolution: none, or GELU (PVT v2's feed-forward network, arXiv 2106.13797).
enum class AfterConvolution { nothing, gelu };

/// The cache's positional encoding (Cached Transformers, arXiv 2312.12742, published code): a grouped 3 × 3
/// convolution over the grid of the tokens, with zeros beyond the border. Class tokens get no encoding.
///   out = after(tokens ⊛ weight + bias + addend).
///
/// tokens (B, L, D); weight (D, D / groups, 3, 3), which determines the number of groups; bias (D) or
/// none; addend (B, L, D) or none, for example the tensor to which the encoding is added.
/// Returns (B, L, D) in the dtype of tokens. Differentiable in all tensors; only the unfused form (ATen operators) is
/// differentiable twice. Under autocast, tokens, weight and addend are converted to the autocast dtype.
/// Throws c10::Error if shapes or dtypes do not agree.
at::Tensor token_convolution(const at::Tensor& tokens, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                             const TokenGrid& grid, const std::optional<at::Tensor>& addend = {},
                             AfterConvolution after = AfterConvolution::nothing);

}  // namespace cachet::ops
