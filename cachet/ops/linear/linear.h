#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// x·weightᵀ + bias: x (…, K), weight (N, K), bias (N) or none -> (…, N), as at::linear, by the faster of the libraries
/// that ATen calls, forward and backward (ops/linear/product.h). If that is at::linear itself, this calls at::linear. A
/// packed weight (ops/linear/product.h) gives no gradients; the same is true of linear_gelu().
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias = {});

/// GELU(x·weightᵀ + bias), the first half of a transformer's feed-forward layer. Bias and GELU are one pass over the
/// product, and only the product is saved for the backward pass. bias (N). Differentiable in everything, twice only in
/// the unfused form. Under autocast, x and weight are brought to the autocast dtype.
/// Throws c10::Error when shapes do not agree.
at::Tensor linear_gelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace cachet::ops
