#pragma once

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/layers/linear.h"

namespace cachet::nn {

struct TokenTransformerOptions {
  int64_t dim = 0;        // channels of query and context
  int64_t token_dim = 0;  // channels of queries, keys, values and the result
  SoftmaxOptions softmax{};
};

/// T2T-ViT's softmax attention with one head (arXiv 2101.11986, Sec. 3.1). Self-attention returns v + proj(attention).
/// Attention to another context returns proj(attention), without adding v. The scale of the scores is 1/√dim, as in the
/// published code, and not 1/√token_dim. (B, Lq, dim) -> (B, Lq, token_dim). Parameters: qkv (without bias), proj.
class TokenTransformer : public Cloneable<TokenTransformer, Attention> {
 public:
  explicit TokenTransformer(const TokenTransformerOptions& options);

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  void fold_affine_before(const Affine& before) override { qkv_->fold_affine_before(before); }

 private:
  double scale_;
  Submodule<Linear> qkv_, proj_;
  Submodule<AttentionFunction> function_;
};

}  // namespace cachet::nn
