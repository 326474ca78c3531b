#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_function_kind.h"
#include "cachet/nn/base/regularizer.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/ops/attention/kernel_attention.h"

namespace cachet::nn {

/// Linear attention with φ(x) = elu(x) + 1 (Katharopoulos et al., arXiv 2006.16236, Eq. 7).
struct EluOptions {
  double eps = 1e-6;  // added to each query's denominator

  static const AttentionFunctionKind<EluOptions> kKind;
};

/// The form of a trained feature map (trainable feed-forward kernels, arXiv 2211.04076, p. 2).
enum class KernelForm {
  linear,             // softplus(x·W), one layer
  orthogonal_linear,  // the form linear, with a penalty that makes W orthogonal
  glu,                // layers of x·W ⊙ σ(x·G); the last layer is softplus(x·W) ⊙ σ(x·G)
  orthogonal_glu,     // "OGLU": the form glu, with a penalty that makes each W orthogonal
  low_rank_glu,       // "AOGLU": OGLU in which each gate is the product of an n × r and an r × n matrix
  feed_forward,       // layers of activation(x·W); the last layer is softplus(x·W)
};
enum class KernelActivation { gelu, sigmoid };
enum class KernelBetween { none, layer_norm };

struct KernelOptions {
  KernelForm form = KernelForm::glu;
  int64_t layers = 1;     // 1 for the linear forms
  int64_t gate_rank = 0;  // r of AOGLU; 0 means a quarter of a head's channels
  bool head_wise = true;  // whether each head has weights of its own
  double penalty = 0.01;  // weight of Σ_h ‖WWᵀ − I‖²_F in the loss, for orthogonal weights
  double eps = 0.0;       // added to each query's denominator
  KernelActivation activation = KernelActivation::gelu;  // for the form feed_forward: activation of the hidden layers
  KernelBetween between = KernelBetween::none;           // for the form feed_forward: norm after each hidden layer

  static const AttentionFunctionKind<KernelOptions> kKind;
};

/// Attention whose time is linear in the length of the sequence. The kernel is the product of positive features
/// φ(q)·φ(k) (see ops::kernel_attention). The feature map is elu + 1 or a small trained network, and is applied head by
/// head.
///
/// Parameters of layer i of a trained map: (H, n, n), or (1, n, n) if all heads share their weights:
///   A linear or feed-forward map has features.i.weight.
///   A gated map has features.i.weight and features.i.gate. If the gate is narrow, features.i.gate_down (·, n, r) and
///   features.i.gate_up (·, r, n) replace features.i.gate.
///   A map with norms between its layers has features.i.norm.* after each layer except the last.
///
/// The state of a session (SessionUse::decoding) is the running sum Σ φ(k)[v, 1]ᵀ, instead of the keys and values of
/// earlier calls. Throws c10::Error if args has a bias, because there are no scores to which it could be added.
class KernelAttention : public Cloneable<KernelAttention, AttentionFunction>, public Regularized {
 public:
  KernelAttention(const EluOptions& options, int64_t num_heads, int64_t head_dim);
  KernelAttention(const KernelOptions& options, int64_t num_heads, int64_t head_dim);

  /// Returns φ(x): x (B, H, L, n) -> (B, H, L, n).
  torch::Tensor features(const torch::Tensor& x) const;

  /// Returns the weight of each key for each query, (B, H, Lq, Lk), from features: φ(q)·φ(k) ÷ (Σ_k + ε). forward()
  /// never computes this matrix. `hidden` (bool, broadcastable, or undefined): true for keys that a query does not see.
  torch::Tensor weights_of_features(const torch::Tensor& of_q, const torch::Tensor& of_k,
                                    const torch::Tensor& hidden = {}) const;

  /// Returns the weights (H or 1, n, n) of all layers that a penalty makes orthogonal. If the form of the feature map
  /// has no penalty, returns an empty list.
  std::vector<torch::Tensor> orthogonal_weights() const;

  bool keeps_state() const override { return true; }
  bool queries_stand_alone() const override { return true; }
  void declare_state(AttentionState& state, const torch::TensorOptions& options) const override;

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionArgs& args) override;

 private:
  struct Layer {
    RegisteredTensor weight, gate, gate_down, gate_up;
    Submodule<Norm> norm;
    ops::FeatureUnit unit;
  };
  // Returns options_.penalty · Σ_h ‖W_h W_hᵀ − I‖²_F over the orthogonal weights. If there are no orthogonal weights,
  // returns an undefined tensor.
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
