#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace cachet::ops {

/// The activation function of a layer of a feature map, applied to the product of input and weights. For a gated unit,
/// the product [a, g] is twice as wide as the unit's result.
enum class FeatureUnit : int64_t {
  elu_plus_one,  // elu(a) + 1 of the input itself, without a product
  softplus,      // log(1 + eᵃ), the output unit of linear kernels and feed-forward stacks
  gelu,          // a·Φ(a)
  sigmoid,       // σ(a)
  glu,           // a ⊙ σ(g)
  softplus_glu,  // log(1 + eᵃ) ⊙ σ(g), the output unit of gated stacks
};

/// Whether a unit is gated: its product with the weights is then a pair [a, g].
constexpr bool is_gated(FeatureUnit unit) { return unit == FeatureUnit::glu || unit == FeatureUnit::softplus_glu; }

/// A feature map φ for each head. Layer i applies units[i] to the product with weights[i]: (H, n_in, n_out), or
/// (1, n_in, n_out) for all heads. n_out includes both halves of gated units. If there are no layers, φ(x) = x: the
/// caller passes the features themselves as x.
struct FeatureMap {
  std::vector<at::Tensor> weights;
  std::vector<FeatureUnit> units;
};

/// Returns φ(x): x (B, H, L, n) -> (B, H, L, m). Differentiable in x and in the weights.
/// Throws c10::Error if shapes, dtypes or values do not agree.
at::Tensor kernel_features(const at::Tensor& x, const FeatureMap& map);

/// Attention with a kernel instead of the softmax (trainable feed-forward kernels, arXiv 2211.04076, and linear
/// transformers, arXiv 2006.16236, Eq. 5 and 9). Time and memory are linear in the length:
///   y_i = φ(q_i)ᵀ Σ_j φ(k_j) v_jᵀ / (φ(q_i)ᵀ (κ1 + Σ_j φ(k_j)) + ε)
/// with ε = eps and κ = key_eps. j runs over the keys that query i sees: all keys, or with `causal` the keys with
/// j ≤ i + (Lk − Lq).
///
/// q (B, H, Lq, n); k (B, H, Lk, n) and v (B, H, Lk, e), or with batch size 1 for all samples; padding (B, Lk) bool,
/// true = padding (padded keys and values have no effect). Returns (B, H, Lq, e) in the dtype of q; sums are float32 or
/// wider. A query that sees no key gets zeros. Differentiable in q, k, v and the weights. Throws c10::Error if
/// shapes, dtypes or values do not agree.
at::Tensor kernel_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const FeatureMap& map,
                            const std::optional<at::Tensor>& padding = {}, bool causal = false, double eps = 0.0,
                            double key_eps = 0.0);

/// Computes kernel attention in a session: queries also see the keys of all earlier calls. `sums` (B, H, m, e + 1) is
/// Σ_j φ(k_j) [v_j, 1]ᵀ over the keys of all earlier calls (if κ is not 0, the last column starts at κ). The call
/// replaces `sums` by sums over the earlier keys and its own keys. If `sums` is undefined, there are no earlier keys.
/// Sums are float32 or wider, even under autocast.
at::Tensor kernel_attention_stream(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const FeatureMap& map,
                                   const std::optional<at::Tensor>& padding, bool causal, double eps, at::Tensor& sums);

}  // namespace cachet::ops
