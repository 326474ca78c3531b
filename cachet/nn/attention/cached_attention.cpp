#include "cachet/nn/attention/cached_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/initialization.h"
#include "cachet/ops/mix_heads.h"
#include "cachet/ops/token_convolution.h"

namespace cachet::nn {
CachedAttention::CachedAttention(const CachedAttentionOptions& o, const AttentionFactory& make)
    : Attention("CachedAttention"), num_heads_(o.num_heads) {
  const CachedLayerOptions* options = cached_layer_options(o.cache);
  TORCH_CHECK(options, "cached_attention: needs a cache; make_self_attention serves both cases");
  const int64_t width = cache_dim(*options, o.dim);
  TORCH_CHECK(width >= 1 && width % num_heads_ == 0, "cached_attention: ", num_heads_,
              " heads do not divide the memory's ", width, " channels (ratio ", options->ratio, " of ", o.dim, ")");
  self_attention_ = register_module("self_attention", make(o.dim, Branch::self));
  memory_attention_ = register_module("memory_attention", make(width, Branch::memory));
  cache_ = register_module("cache", make_cache(o.cache, o.dim, o.tokens, o.layout));
  share = register_parameter("share", at::full({num_heads_}, options->share_start, at::kFloat));
  if (!options->positional_convolution) return;

  TORCH_CHECK(o.dim % width == 0, "cached_attention: the positional convolution has one group a memory channel, and ",
              width, " does not divide ", o.dim, "; choose another ratio or positional_convolution = false");
  position_ = register_module("position", std::make_shared<torch::nn::Module>("PositionalConvolution"));
  position_weight_ = position_->register_parameter("weight", at::empty({o.dim, o.dim / width, 3, 3}));
  position_bias_ = position_->register_parameter("bias", at::zeros({o.dim}));
  convolution_normal_(position_weight_, width);
}

torch::Tensor CachedAttention::add_position(const torch::Tensor& mixed, const torch::Tensor& x,
                                            const TokenLayout& layout) const {
  TORCH_CHECK(layout.grid, "cached_attention: the positional convolution needs tokens on a grid");
  return ops::token_convolution(x, position_weight_, position_bias_,
                                {layout.grid->height, layout.grid->width, layout.class_tokens}, mixed);
}

std::shared_ptr<AttentionState> CachedAttention::make_state(int64_t batch, StreamUse use) const {
  auto state = std::make_shared<AttentionState>();
  state->parts["self_attention"] = self_attention_->make_state(batch, use);
  state->parts["cache"] = std::make_shared<AttentionState>();
  return state;
}

torch::Tensor CachedAttention::forward(const torch::Tensor& query, const torch::Tensor& context,
                                       const AttentionLayout& layout) {
  TORCH_CHECK(query.is_same(context),
              "cached_attention: the cache belongs to self-attention; pass the query as context");
  const auto part = [&](const char* name) { return layout.state ? &layout.state->part(name) : nullptr; };
  AttentionLayout self_layout = layout, cache_layout = layout;
  self_layout.state = part("self_attention");
  cache_layout.state = part("cache");

  const torch::Tensor self_output = self_attention_->forward(query, query, self_layout);
  const Memory memory = cache_->step(query, self_output, cache_layout);
  const int64_t width = memory.tokens.size(2);
  const torch::Tensor memory_query = query.narrow(2, 0, width);
  const torch::Tensor memory_output = memory_attention_->forward(memory_query, memory.tokens.to(query.scalar_type()),
                                                                 {layout.query, memory.layout, {}, false, nullptr});

  if (observed()) {
    tell(Signal::share, share.sigmoid());
    tell(Signal::self_output, self_output);
    tell(Signal::memory_output, memory_output);
    tell(Signal::memory_tokens, memory.tokens);
  }
  const auto heads = [&](const torch::Tensor& x) {
    return x.view({x.size(0), x.size(1), num_heads_, x.size(2) / num_heads_});
  };
  const torch::Tensor mixed = ops::mix_heads(heads(self_output), heads(memory_output), share).view(query.sizes());
  if (!position_) return mixed;
  return zero_padding(add_position(mixed, query, layout.query), layout.query);
}

std::shared_ptr<Attention> make_self_attention(const CachedAttentionOptions& options, const AttentionFactory& make) {
  if (!cached_layer_options(options.cache)) return make(options.dim, Branch::self);
  return std::make_shared<CachedAttention>(options, make);
}

std::shared_ptr<Attention> make_self_attention(const CachedAttentionOptions& options,
                                               const AttentionOptions& attention) {
  return make_self_attention(options, [&](int64_t dim, Branch branch) {
    const auto projection = branch == Branch::self ? Projection::fused : Projection::separate;
    return std::make_shared<MultiHeadAttention>(MultiHeadOptions{dim, options.num_heads, attention, projection});
  });
}

}  // namespace cachet::nn
