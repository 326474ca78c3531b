#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::analysis {

/// The tokens of x (B, T, D) that are not padding, (1, N, D); x itself if padding (B, T), bool, is not defined.
at::Tensor valid_tokens(const at::Tensor& x, const at::Tensor& padding);

/// x (B, T, D) with zeros at the padding; x itself if padding is not defined.
at::Tensor without_padding(const at::Tensor& x, const at::Tensor& padding);

}  // namespace cachet::analysis
