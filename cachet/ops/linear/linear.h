#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Returns x·weightᵀ + bias like at::linear: x (…, K), weight (N, K), bias (N) or none -> (…, N). Uses the faster of
/// ATen's libraries, forward and backward (ops/linear/product.h). If this is at::linear's library, calls at::linear.
/// In linear() and linear_gelu(), a packed weight (ops/linear/product.h) has no gradients.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias = {});

/// Returns GELU(x·weightᵀ + bias), the first half of a transformer's feed-forward layer. Bias and GELU are one pass
/// over the product, and only the product is saved for the backward pass. bias (N). Differentiable in everything,
/// twice only in the unfused form. Under autocast, x and weight are converted to the autocast dtype. Throws
/// c10::Error if shapes do not agree.
at::Tensor linear_gelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace cachet::ops
