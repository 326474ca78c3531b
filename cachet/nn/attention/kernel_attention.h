#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/nn/regularizer.h"
#include "cachet/ops/kernel_attention.h"

namespace cachet::nn {

/// Attention whose kernel is the product of positive features φ(q)·φ(k), in time linear in the length: see
/// ops::kernel_attention. The feature map is elu + 1 or a small trained network, applied head by head.
///
/// Parameters of layer i of a trained map, (H, n, n) or, where heads share them, (1, n, n):
///   linear, feed-forward   features.i.weight
///   gated                  features.i.weight, features.i.gate; with a narrow gate features.i.gate_down (·, n, r) and
///                          features.i.gate_up (·, r, n) in its place
///   norm between           features.i.norm.*, behind each layer but the last
///
/// A stream of it (StreamUse::decoding) is the running sum Σ φ(k)[v, 1]ᵀ; keys and values of earlier calls are not
/// kept. Throws c10::Error where a layout has a bias: there are no scores that it could be added to.
class KernelAttention : public Cloneable<KernelAttention, AttentionFunction>, public Regularized {
 public:
  KernelAttention(const EluOptions& options, int64_t num_heads, int64_t head_dim);
  KernelAttention(const KernelOptions& options, int64_t num_heads, int64_t head_dim);

  /// φ(x): x (B, H, L, n) -> (B, H, L, n).
  torch::Tensor features(const torch::Tensor& x) const;

  /// What each key counts for each query, φ(q)·φ(k) ÷ (Σ_k + ε): (B, H, Lq, Lk), the matrix that attention never makes,
  /// from the features of both. hidden: keys that a query does not see, bool, broadcasts to it; undefined = none.
  torch::Tensor weights_of_features(const torch::Tensor& of_q, const torch::Tensor& of_k,
                                    const torch::Tensor& hidden = {}) const;

  /// The weights that are to stay orthogonal, (H or 1, n, n) a layer; none of a form that asks for no such.
  std::vector<torch::Tensor> orthogonal_weights() const;

  bool keeps_stream() const override { return true; }
  void begin_stream(AttentionState& state, const torch::TensorOptions& options) const override;

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionLayout& layout) override;

 private:
  struct Layer {
    OwnTensor weight, gate, gate_down, gate_up;
    Part<Norm> norm;
    ops::FeatureUnit unit;
  };
  // weight · Σ_h ‖W_h W_hᵀ − I‖²_F over the weights that are to stay orthogonal; undefined for kernels without them.
  torch::Tensor wide_penalty() const override;
  torch::Tensor joined_weight(const Layer& layer) const;
  ops::FeatureMap map(size_t from, size_t to) const;
  bool has_norms() const { return options_.between == KernelBetween::layer_norm && layers_.size() > 1; }

  KernelOptions options_;
  double eps_;
  int64_t num_heads_, head_dim_;
  std::vector<Layer> layers_;
};

}  // namespace cachet::nn
