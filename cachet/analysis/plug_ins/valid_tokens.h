#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::analysis {

/// Returns the tokens of x (B, T, D) outside the padding (B, T), bool, as (1, N, D). Returns x if padding is undefined.
at::Tensor valid_tokens(const at::Tensor& x, const at::Tensor& padding);

/// Returns x (B, T, D) with zeros at the padding. Returns x itself if padding is undefined.
at::Tensor without_padding(const at::Tensor& x, const at::Tensor& padding);

}  // namespace cachet::analysis
