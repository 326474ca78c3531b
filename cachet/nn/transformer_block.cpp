#include "cachet/nn/transformer_block.h"

#include <ATen/TensorOperators.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/stochastic_depth.h"

namespace cachet::nn {

PlugIns read_plug_ins(const config::View& table) {
  return {read_attention_options(table.table("attention")), read_cache_options(table.table("cache")),
          read_norm_options(table.table("norm"))};
}

TransformerBlock::TransformerBlock(const TransformerBlockOptions& o, const PlugIns& plug_ins)
    : torch::nn::Module("TransformerBlock"), stochastic_depth_(o.stochastic_depth) {
  norm1_ = register_module("norm1", make_norm(plug_ins.norm, o.dim, o.norm_eps));
  attn_ = register_module(
      "attn", make_self_attention(plug_ins.attention, plug_ins.cache, o.dim, o.num_heads, o.tokens, o.layout));
  norm2_ = register_module("norm2", make_norm(plug_ins.norm, o.dim, o.norm_eps));
  const auto hidden = static_cast<int64_t>(static_cast<double>(o.dim) * o.mlp_ratio);
  mlp_ = register_module("mlp", std::make_shared<FeedForward>(o.dim, hidden, o.dropout));
}

torch::Tensor TransformerBlock::forward(const torch::Tensor& x, const AttentionLayout& layout) {
  const auto drop = [&](const torch::Tensor& branch) {
    return nn::stochastic_depth(branch, stochastic_depth_, is_training());
  };
  const torch::Tensor& padding = layout.query.padding;
  const torch::Tensor normed = norm1_->forward(x, padding);
  const torch::Tensor attended = x + drop(attn_->forward(normed, normed, layout));
  return attended + drop(mlp_->forward(norm2_->forward(attended, padding)));
}

}  // namespace cachet::nn
