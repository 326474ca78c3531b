#pragma once

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/layers/linear.h"

namespace cachet::nn {

struct TokenPerformerOptions {
  int64_t dim = 0;             // channels of query and context
  int64_t token_dim = 0;       // channels of queries, keys, values and the result
  double feature_ratio = 0.5;  // number of random features ÷ token_dim
  double dropout = 0.1;        // dropout rate after the projection
};

/// T2T-ViT's linear attention with one head and frozen random features (Yuan et al., arXiv 2101.11986, Sec. 3.1). The
/// random features are those of Performer (arXiv 2009.14794, Eq. 5). With W (m, token_dim), the layer computes
///   φ(x) = exp(x·Wᵀ − ‖x‖²/2)/√m,   y = φ(q)(φ(k)ᵀv)/(φ(q)·Σφ(k) + 1e-8).
/// Self-attention returns v + proj(y). The residual is v instead of the query, because the result and the query have
/// different widths. Attention to another context returns proj(y) without v, because the values v belong to other
/// tokens than the queries. (B, Lq, dim) -> (B, Lq, token_dim).
/// Parameters: kqv, proj. Buffer: features W (m, token_dim), orthogonal rows of length √m.
class TokenPerformer : public Cloneable<TokenPerformer, Attention> {
 public:
  explicit TokenPerformer(const TokenPerformerOptions& options);

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  void fold_affine_before(const Affine& before) override { kqv_->fold_affine_before(before); }

 private:
  torch::Tensor feature_map(const torch::Tensor& x) const;

  int64_t token_dim_;
  double dropout_;
  Submodule<Linear> kqv_, proj_;
  RegisteredTensor features_;
};

}  // namespace cachet::nn
