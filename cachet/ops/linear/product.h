#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// x (…, C) as a matrix of rows (N, C).
inline at::Tensor as_rows(const at::Tensor& x) { return x.reshape_symint({-1, x.sym_size(-1)}); }

/// x·weightᵀ + bias, x (…, K), weight (N, K), bias (N) or none, by one of the two libraries that ATen calls. In float32
/// that is at::linear's (MKL), unless the processor has AVX-512 and is not one that MKL was tuned for: there oneDNN
/// takes half to nine tenths of the time. In bfloat16 at::linear is oneDNN already. Not differentiable.
/// CACHET_COMPOSITE=1 selects at::linear.
at::Tensor linear_no_grad(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias = {});

/// The same followed by GELU; in one pass if oneDNN computes the product.
at::Tensor product_gelu(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias);

/// aᵀ·b, a (K, M), b (K, N): what the gradient of a weight is.
at::Tensor matmul_tn(const at::Tensor& a, const at::Tensor& b);

/// A weight (N, K) as oneDNN lays it out for its own reading: a tensor of these sizes whose numbers are not to be read,
/// which product() and product_gelu() take in place of the weight, without gradients. Weights that stay are laid out
/// once and not in every product. Gives the weight back as it is where this LibTorch's oneDNN cannot.
at::Tensor packed_weight(const at::Tensor& weight);
/// The weight again, as it was.
at::Tensor unpacked_weight(const at::Tensor& weight);
inline bool is_packed(const at::Tensor& weight) { return weight.is_mkldnn(); }

/// Whether product() goes another way than at::linear for this operand.
bool has_faster_product(const at::Tensor& x);

}  // namespace cachet::ops
