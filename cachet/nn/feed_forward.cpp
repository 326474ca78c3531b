#include "cachet/nn/feed_forward.h"

#include <ATen/ops/dropout.h>

#include "cachet/ops/linear.h"

namespace cachet::nn {

FeedForward::FeedForward(int64_t dim, int64_t hidden_dim, double dropout)
    : torch::nn::Module("FeedForward"), dropout_(dropout) {
  fc1_ = register_module("fc1", std::make_shared<Linear>(dim, hidden_dim));
  fc2_ = register_module("fc2", std::make_shared<Linear>(hidden_dim, dim));
}

torch::Tensor FeedForward::forward(const torch::Tensor& x) const {
  const torch::Tensor hidden = at::dropout(ops::linear_gelu(x, fc1_->weight, fc1_->bias), dropout_, is_training());
  return at::dropout(fc2_->forward(hidden), dropout_, is_training());
}

}  // namespace cachet::nn
