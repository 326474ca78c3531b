#pragma once

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/layers/linear.h"

namespace cachet::nn {

/// The two biases that attention adds to each query. All layers of a Transformer-XL model share the biases.
struct RelativeBiases {
  torch::Tensor content, position;  // (H, d): u and v of the paper

  /// Draws `content` and `position` from a normal distribution with standard deviation 0.02.
  static RelativeBiases make(int64_t num_heads, int64_t head_dim);
};

struct RelativeAttentionOptions {
  int64_t dim = 0, num_heads = 0;
  AttentionOptions attention = {.qkv_bias = false, .projection_bias = false};  // function must be softmax
};

/// Attention to tokens and to their distances (Transformer-XL, Dai et al., arXiv 1901.02860, Sec. 3.3):
///   scores = (q + u)·k + (q + v)·(W_r R),   R the encoded distances of the layout.
/// The queries are the last tokens of the context. Parts: qkv, position (W_r), proj; parameters: content_bias (u) and
/// position_bias (v), each (H, d).
/// If a session gives a state for decoding, queries also see the keys and values of earlier calls, and R also encodes
/// the distances to these earlier keys.
class RelativeAttention : public Cloneable<RelativeAttention, Attention> {
 public:
  /// Throws c10::Error if the function is not softmax, if attention.head_dim is 0 and num_heads does not divide dim,
  /// or if the biases do not have the shape (H, d).
  RelativeAttention(const RelativeAttentionOptions& options, const RelativeBiases& biases);
  /// Returns the number of channels of a head.
  static int64_t head_dim(const RelativeAttentionOptions& options);

  /// Throws c10::Error if the layout has no distances, or if the number of distances differs from the number of keys.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  std::shared_ptr<AttentionState> make_state(int64_t batch, SessionUse use) const override;
  void fold_affine_before(const Affine& before) override;
  void fold_affine_after(const Affine& after) override { proj_->fold_affine_after(after); }

 private:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const RelativeLayout& layout) const;

  int64_t dim_, num_heads_, head_dim_;
  double dropout_, projection_dropout_;
  Submodule<Linear> qkv_, position_, proj_;
  RegisteredTensor content_bias_, position_bias_;
};

}  // namespace cachet::nn
