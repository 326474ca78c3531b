#pragma once

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/linear.h"

namespace cachet::nn {

/// How a layer projects: one product where the query is the context, or apart where they differ.
enum class Projection { fused, separate };

/// Multi-head attention: projections to heads, an attention function, a projection back.
/// Parameters: qkv (fused) or q, kv (separate), proj.
/// With a state made for decoding, the keys and values of earlier calls stay visible.
class MultiHeadAttention : public Attention {
 public:
  /// dim: channels of query and context; throws c10::Error unless num_heads divides it.
  MultiHeadAttention(int64_t dim, int64_t num_heads, const AttentionOptions& options,
                     Projection projection = Projection::fused);

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context,
                        const AttentionLayout& layout) override;
  std::shared_ptr<AttentionState> make_state(int64_t batch, StreamUse use) const override;

 private:
  struct Heads {
    torch::Tensor q, k, v;  // (B, H, L, d)
  };
  Heads project(const torch::Tensor& query, const torch::Tensor& context) const;
  AttentionLayout remember(Heads& heads, const AttentionLayout& layout) const;

  int64_t num_heads_, head_dim_;
  double projection_dropout_;
  std::shared_ptr<Linear> qkv_, q_, kv_, proj_;
  std::shared_ptr<AttentionFunction> function_;
};

}  // namespace cachet::nn
