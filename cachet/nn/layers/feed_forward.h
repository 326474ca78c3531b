#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <optional>

#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/layers/linear.h"
#include "cachet/nn/layout.h"

namespace cachet::nn {

/// The activation between the two layers of a feed-forward network.
enum class Activation { gelu, relu, silu };

struct FeedForwardOptions {
  int64_t dim = 0, hidden_dim = 0;
  double dropout = 0.0;  // rate after fc2, and after the activation if hidden_dropout is unset
  Activation activation = Activation::gelu;
  std::optional<double> hidden_dropout = {};  // rate after the activation; unset: the same as `dropout`
};

/// The feed-forward network of a transformer block: fc2(activation(fc1(x))). Dropout is applied after the activation
/// and after fc2.
class FeedForward : public Cloneable<FeedForward> {
 public:
  explicit FeedForward(const FeedForwardOptions& options);
  /// x (B, L, dim) -> (B, L, dim). `layout`: the arrangement of the tokens, for layers that mix neighbours.
  virtual torch::Tensor forward(const torch::Tensor& x, const TokenLayout& layout) const;
  /// Folds `before` into the layer, which then returns for x what it returned earlier for before.apply(x).
  void fold_affine_before(const Affine& before) { fc1_->fold_affine_before(before); }

 protected:
  torch::Tensor drop(const torch::Tensor& x) const;
  torch::Tensor drop_hidden(const torch::Tensor& x) const;
  /// Returns the activation of x. activate() is for code paths without a fused activation.
  torch::Tensor activate(const torch::Tensor& x) const;

  Activation activation_;
  Submodule<Linear> fc1_, fc2_;

 private:
  double dropout_, hidden_dropout_;
};

}  // namespace cachet::nn
