#pragma once

#include "cachet/nn/layers/feed_forward.h"

namespace cachet::nn {

enum class BeforeDepthwise { nothing, relu };

/// PVT v2's feed-forward network (arXiv 2106.13797): fc2(activation(dwconv(fc1(x)))). dwconv is a depthwise 3 × 3
/// convolution over the grid. In the linear variants of PVT v2 (li), a ReLU precedes dwconv. Parts: fc1, dwconv, fc2.
/// Tokens must lie on a grid without class tokens.
class DepthwiseFeedForward : public Cloneable<DepthwiseFeedForward, FeedForward> {
 public:
  DepthwiseFeedForward(const FeedForwardOptions& options, BeforeDepthwise before);
  torch::Tensor forward(const torch::Tensor& x, const TokenLayout& layout) const override;

 private:
  BeforeDepthwise before_;
  Submodule<ModuleGroup> dwconv_;
  RegisteredTensor weight_, bias_;  // (hidden, 1, 3, 3), (hidden)
};

}  // namespace cachet::nn
