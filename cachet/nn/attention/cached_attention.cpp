#include "cachet/nn/attention/cached_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/ops/mix_heads.h"
#include "cachet/ops/token_convolution.h"

namespace cachet::nn {
namespace {

void check_memory_heads(int64_t dim, int64_t num_heads, const CachedLayerOptions& options) {
  const int64_t width = cache_dim(options, dim);
  TORCH_CHECK(width >= 1 && width % num_heads == 0, "cached_attention: ", num_heads,
              " heads do not divide the memory's ", width, " channels (ratio ", options.ratio, " of ", dim, ")");
}

}  // namespace

CachedAttention::CachedAttention(int64_t dim, int64_t num_heads, const CachedLayerOptions& options,
                                 std::shared_ptr<Attention> self, std::shared_ptr<Attention> memory,
                                 std::shared_ptr<Cache> cache)
    : Attention("CachedAttention"), num_heads_(num_heads) {
  check_memory_heads(dim, num_heads, options);
  self_attention_ = register_module("self_attention", std::move(self));
  memory_attention_ = register_module("memory_attention", std::move(memory));
  cache_ = register_module("cache", std::move(cache));
  share = register_parameter("share", at::full({num_heads}, options.share_start, at::kFloat));
  if (!options.positional_convolution) return;

  const int64_t width = cache_dim(options, dim);
  TORCH_CHECK(dim % width == 0, "cached_attention: the positional convolution has one group a memory channel, and ",
              width, " does not divide ", dim, "; choose another ratio or positional_convolution = false");
  position_ = register_module("position", std::make_shared<torch::nn::Module>("PositionalConvolution"));
  position_weight_ = position_->register_parameter("weight", at::empty({dim, dim / width, 3, 3}));
  position_bias_ = position_->register_parameter("bias", at::zeros({dim}));
  at::NoGradGuard no_grad;
  position_weight_.normal_(0.0, std::sqrt(2.0 / static_cast<double>(9 * (dim / width))));
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

std::shared_ptr<Attention> make_self_attention(const AttentionOptions& attention, const CacheOptions& cache,
                                               int64_t dim, int64_t num_heads, int64_t tokens,
                                               const TokenLayout& layout) {
  auto self = std::make_shared<MultiHeadAttention>(dim, num_heads, attention, Projection::fused);
  const auto cached = [&](const CachedLayerOptions& options) -> std::shared_ptr<Attention> {
    check_memory_heads(dim, num_heads, options);
    auto memory =
        std::make_shared<MultiHeadAttention>(cache_dim(options, dim), num_heads, attention, Projection::separate);
    return std::make_shared<CachedAttention>(dim, num_heads, options, self, memory,
                                             make_cache(cache, dim, tokens, layout));
  };
  if (const auto* grc = std::get_if<GatedRecurrentCacheOptions>(&cache)) return cached(*grc);
  if (const auto* fifo = std::get_if<FifoCacheOptions>(&cache)) return cached(*fifo);
  return self;
}

}  // namespace cachet::nn
