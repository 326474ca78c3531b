#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// Returns x (…, C) as a matrix of rows (N, C).
inline at::Tensor as_rows(const at::Tensor& x) { return x.reshape_symint({-1, x.sym_size(-1)}); }

/// Returns x·weightᵀ + bias: x (…, K), weight (N, K), bias (N) or none. ATen has two libraries for a product x·weightᵀ,
/// MKL and oneDNN. In float32, linear_no_grad() uses MKL, like at::linear. If the processor has AVX-512 but MKL was not
/// tuned for it, linear_no_grad() uses oneDNN, which takes 0.5 to 0.9 of MKL's time. In bfloat16, at::linear already
/// uses oneDNN. Not differentiable. CACHET_COMPOSITE=1 selects at::linear.
at::Tensor linear_no_grad(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias = {});

/// Returns GELU(x·weightᵀ + bias). If oneDNN computes the product, it applies GELU in the same pass.
at::Tensor product_gelu(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias);

/// Returns aᵀ·b: a (K, M), b (K, N). The gradient of a linear layer's weight has the form aᵀ·b.
at::Tensor matmul_tn(const at::Tensor& a, const at::Tensor& b);

/// Returns a weight (N, K) in a layout of oneDNN: a tensor with the same sizes, whose numbers must not be read.
/// linear_no_grad() and product_gelu() accept it as weight, without gradients. If a constant weight is packed once, it
/// is not converted to oneDNN's layout again in each product. If oneDNN in this LibTorch has no packed layout for the
/// weight, returns the weight itself.
at::Tensor packed_weight(const at::Tensor& weight);
/// Returns the weight (N, K) from which packed_weight() made `weight`.
at::Tensor unpacked_weight(const at::Tensor& weight);
inline bool is_packed(const at::Tensor& weight) { return weight.is_mkldnn(); }

/// Whether linear_no_grad() multiplies x by a weight with another library than at::linear does.
bool has_faster_product(const at::Tensor& x);

}  // namespace cachet::ops
