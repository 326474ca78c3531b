#include "cachet/nn/layers/depthwise_feed_forward.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "cachet/nn/base/initialization.h"
#include "cachet/ops/tokens/token_convolution.h"

namespace cachet::nn {

DepthwiseFeedForward::DepthwiseFeedForward(const FeedForwardOptions& options, BeforeDepthwise before)
    : Cloneable(options), before_(before) {
  dwconv_ = register_module("dwconv", std::make_shared<ModuleGroup>("DepthwiseConvolution"));
  weight_ = dwconv_->register_parameter("weight", at::empty({options.hidden_dim, 1, 3, 3}));
  bias_ = dwconv_->register_parameter("bias", at::zeros({options.hidden_dim}));
  convolution_normal_(weight_, options.hidden_dim);
}

torch::Tensor DepthwiseFeedForward::forward(const torch::Tensor& x, const TokenLayout& layout) const {
  TORCH_CHECK(layout.grid, "depthwise_feed_forward: its convolution needs tokens on a grid");
  torch::Tensor hidden = fc1_->forward(x);
  if (before_ == BeforeDepthwise::relu) hidden = at::relu(hidden);
  const ops::TokenGrid grid{layout.grid->height, layout.grid->width, layout.class_tokens};
  const bool fused = activation_ == Activation::gelu;
  hidden = ops::token_convolution(hidden, weight_, bias_, grid, /*addend=*/{},
                                  fused ? ops::AfterConvolution::gelu : ops::AfterConvolution::nothing);
  if (!fused) hidden = activate(hidden);
  return drop(fc2_->forward(drop_hidden(hidden)));
}

}  // namespace cachet::nn
