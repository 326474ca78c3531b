#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Returns x·weightᵀ + bias like at::linear: x (…, K), weight (N, K), bias (N) or none -> (…, N). For the forward and
/// the backward pass, linear() uses the faster one of ATen's two libraries (ops/linear/product.h). If at::linear itself
/// uses the faster library, linear() calls at::linear. In linear() and linear_gelu(), packed weights
/// (ops/linear/product.h) have no gradients.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias = {});

/// Returns GELU(x·weightᵀ + bias), the first half of a transformer's feed-forward network. Adds the bias and applies
/// GELU in one pass over the product. Saves only the product x·weightᵀ for the backward pass. bias (N). Differentiable
/// in all tensors; only the unfused form (ATen operators) is differentiable twice. Under autocast, x and weight are
/// converted to the autocast dtype. Throws c10::Error if shapes do not agree.
at::Tensor linear_gelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace cachet::ops
