#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::analysis {

/// Returns the N tokens of x (B, T, D) outside the padding (B, T) bool, as (1, N, D). Without padding, returns x.
at::Tensor valid_tokens(const at::Tensor& x, const at::Tensor& padding);

/// Returns x (B, T, D) with zeros at the padding. Returns x itself if `padding` is undefined.
at::Tensor without_padding(const at::Tensor& x, const at::Tensor& padding);

}  // namespace cachet::analysis
