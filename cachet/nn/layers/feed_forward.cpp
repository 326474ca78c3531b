#include "cachet/nn/layers/feed_forward.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>

#include "cachet/nn/base/option_checks.h"
#include "cachet/ops/linear/linear.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::nn {

FeedForward::FeedForward(const FeedForwardOptions& options)
    : Cloneable("FeedForward"),
      activation_(options.activation),
      dropout_(options.dropout),
      hidden_dropout_(options.hidden_dropout.value_or(options.dropout)) {
  check_positive("feed_forward: dim", options.dim);
  check_positive("feed_forward: hidden_dim", options.hidden_dim);
  check_dropout("feed_forward: dropout", options.dropout);
  check_dropout("feed_forward: hidden_dropout", hidden_dropout_);
  fc1_ = register_module("fc1", std::make_shared<Linear>(options.dim, options.hidden_dim));
  fc2_ = register_module("fc2", std::make_shared<Linear>(options.hidden_dim, options.dim));
}

torch::Tensor FeedForward::drop(const torch::Tensor& x) const { return ops::dropout(x, dropout_, is_training()); }

torch::Tensor FeedForward::drop_hidden(const torch::Tensor& x) const {
  return ops::dropout(x, hidden_dropout_, is_training());
}

torch::Tensor FeedForward::activate(const torch::Tensor& x) const {
  switch (activation_) {
    case Activation::relu:
      return at::relu(x);
    case Activation::silu:
      return at::silu(x);
    case Activation::gelu:
      break;
  }
  return at::gelu(x);
}

torch::Tensor FeedForward::forward(const torch::Tensor& x, const TokenLayout&) const {
  TORCH_CHECK(x.size(-1) == fc1_->weight.size(1), "feed_forward: takes (B, L, ", fc1_->weight.size(1), "), got ",
              x.sizes());
  const torch::Tensor hidden =
      activation_ == Activation::gelu ? ops::linear_gelu(x, fc1_->weight, fc1_->bias) : activate(fc1_->forward(x));
  return drop(fc2_->forward(drop_hidden(hidden)));
}

}  // namespace cachet::nn
