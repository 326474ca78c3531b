#include "cachet/nn/feed_forward.h"

#include <ATen/ops/dropout.h>

#include "cachet/ops/linear.h"

namespace cachet::nn {

FeedForward::FeedForward(const FeedForwardOptions& options)
    : torch::nn::Module("FeedForward"), dropout_(options.dropout) {
  fc1_ = register_module("fc1", std::make_shared<Linear>(options.dim, options.hidden_dim));
  fc2_ = register_module("fc2", std::make_shared<Linear>(options.hidden_dim, options.dim));
}

torch::Tensor FeedForward::drop(const torch::Tensor& x) const { return at::dropout(x, dropout_, is_training()); }

torch::Tensor FeedForward::forward(const torch::Tensor& x, const TokenLayout&) const {
  return drop(fc2_->forward(drop(ops::linear_gelu(x, fc1_->weight, fc1_->bias))));
}

}  // namespace cachet::nn
