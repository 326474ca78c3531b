#include "cachet/nn/transformer_block.h"

#include <ATen/TensorOperators.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/stochastic_depth.h"

namespace cachet::nn {

PlugIns read_plug_ins(const config::View& table, const HeadOptions& heads) {
  return {read_attention_options(table.table("attention"), heads), read_cache_options(table.table("cache")),
          read_norm_options(table.table("norm"))};
}

FeedForwardOptions TransformerBlockOptions::feed_forward() const {
  return {dim, static_cast<int64_t>(static_cast<double>(dim) * mlp_ratio), dropout};
}

TransformerBlock::TransformerBlock(const TransformerBlockOptions& o, const PlugIns& plug_ins)
    : TransformerBlock(
          o, plug_ins.norm,
          BlockParts{make_self_attention({o.dim, o.num_heads, o.tokens, o.layout, plug_ins.cache}, plug_ins.attention),
                     std::make_shared<FeedForward>(o.feed_forward())}) {}

TransformerBlock::TransformerBlock(const TransformerBlockOptions& o, const NormOptions& norm, BlockParts parts)
    : torch::nn::Module("TransformerBlock"), stochastic_depth_(o.stochastic_depth) {
  norm1_ = register_module("norm1", make_norm(norm, o.dim, o.norm_eps));
  attn_ = register_module("attn", std::move(parts.attention));
  norm2_ = register_module("norm2", make_norm(norm, o.dim, o.norm_eps));
  mlp_ = register_module("mlp", std::move(parts.feed_forward));
}

torch::Tensor TransformerBlock::forward(const torch::Tensor& x, const AttentionLayout& layout) {
  const auto drop = [&](const torch::Tensor& branch) {
    return nn::stochastic_depth(branch, stochastic_depth_, is_training());
  };
  const torch::Tensor& padding = layout.query.padding;
  const torch::Tensor normed = norm1_->forward(x, padding);
  const torch::Tensor attended = x + drop(attn_->forward(normed, normed, layout));
  return attended + drop(mlp_->forward(norm2_->forward(attended, padding), layout.query));
}

std::vector<std::shared_ptr<TransformerBlock>> make_transformer_blocks(int64_t depth,
                                                                       const TransformerBlockOptions& options,
                                                                       const PlugIns& plug_ins) {
  std::vector<std::shared_ptr<TransformerBlock>> blocks;
  for (int64_t i = 0; i < depth; ++i) {
    TransformerBlockOptions block = options;
    block.stochastic_depth = stochastic_depth_of(options.stochastic_depth, i, depth);
    blocks.push_back(std::make_shared<TransformerBlock>(block, plug_ins));
  }
  return blocks;
}

}  // namespace cachet::nn
