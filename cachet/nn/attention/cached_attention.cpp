#include "cachet/nn/attention/cached_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/base/initialization.h"
#include "cachet/nn/base/option_checks.h"
#include "cachet/ops/cache/mix_heads.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/tokens/token_convolution.h"

namespace cachet::nn {

void MixedAttention::register_self_attention(const Mixing& mixing) {
  self_attention_ = register_module("self_attention", mixing.self_attention);
  mixing_logit = register_parameter("share", mixing.mixing_logit);
}

void MixedAttention::register_position(const Mixing& mixing) {
  if (!mixing.position) return;
  position_ = register_module("position", mixing.position);
  position_weight_ = position_->named_parameters()["weight"];
  position_bias_ = position_->named_parameters()["bias"];
}

AttentionState* MixedAttention::part_of(const AttentionArgs& args, const char* name) {
  return args.state ? &args.state->part(name) : nullptr;
}

torch::Tensor MixedAttention::self_output(const torch::Tensor& query, const AttentionArgs& args) const {
  AttentionArgs self_args = args;
  self_args.state = part_of(args, "self_attention");
  return self_attention_->forward(query, query, self_args);
}

torch::Tensor MixedAttention::mix(const torch::Tensor& query, const torch::Tensor& self_output,
                                  const torch::Tensor& memory_output, const AttentionArgs& args) const {
  if (const auto& grid = args.query.grid; grid && observed({Signal::token_grid}))
    notify(Signal::token_grid, at::tensor({args.query.class_tokens, grid->height, grid->width}, at::kLong));
  if (args.query.padding.defined()) notify(Signal::token_padding, args.query.padding);
  if (observed({Signal::mixing_gate})) notify(Signal::mixing_gate, mixing_logit.sigmoid());
  notify(Signal::self_output, self_output);
  notify(Signal::memory_output, memory_output);
  const int64_t num_heads = mixing_logit.size(0);
  const auto heads = [&](const torch::Tensor& x) {
    return x.view({x.size(0), x.size(1), num_heads, x.size(2) / num_heads});
  };
  return add_position(query, ops::mix_heads(heads(self_output), heads(memory_output), mixing_logit).view(query.sizes()),
                      args);
}

torch::Tensor MixedAttention::add_position(const torch::Tensor& query, const torch::Tensor& mixed,
                                           const AttentionArgs& args) const {
  if (!position_) return mixed;
  const auto& grid = args.query.grid;
  TORCH_CHECK(grid, "cached_attention: the positional convolution needs tokens on a grid");
  const torch::Tensor placed = ops::token_convolution(query, position_weight_, position_bias_,
                                                      {grid->height, grid->width, args.query.class_tokens}, mixed);
  return zero_padding(placed, args.query);
}

CachedAttention::CachedAttention(const CachedAttentionOptions& o, const AttentionFactory& make)
    : Cloneable("CachedAttention"), dim_(o.dim) {
  const std::optional<CachedLayerOptions> options = cached_layer_options(o.cache);
  TORCH_CHECK(options,
              "cached_attention: needs a cache; use make_self_attention, which makes layers with and without a cache");
  check_positive("cached_attention: dim", o.dim);
  check_positive("cached_attention: num_heads", o.num_heads);
  const int64_t width = cache_dim(options->ratio, o.dim);
  TORCH_CHECK(width >= 1 && width % o.num_heads == 0,
              "cached_attention: num_heads must divide the number of memory channels, but ", o.num_heads,
              " does not divide ", width, " (ratio ", options->ratio, " of ", o.dim, " channels)");
  Mixing mixing{make(o.dim, Branch::self), at::full({o.num_heads}, options->share_start, at::kFloat), nullptr};
  memory_attention_ = make(width, Branch::memory);
  cache_ = make_cache(o.cache, o.dim, o.tokens, o.layout);
  if (options->positional_convolution) {
    TORCH_CHECK(o.dim % width == 0,
                "cached_attention: the positional convolution has one group for each memory channel, so the number of "
                "memory channels must divide dim, but ",
                width, " does not divide ", o.dim, "; choose another ratio, or positional_convolution = false");
    mixing.position = std::make_shared<ModuleGroup>("PositionalConvolution");
    torch::Tensor weight = mixing.position->register_parameter("weight", at::empty({o.dim, o.dim / width, 3, 3}));
    mixing.position->register_parameter("bias", at::zeros({o.dim}));
    convolution_normal_(weight, width);
  }
  register_self_attention(mixing);
  register_module("memory_attention", memory_attention_);
  register_module("cache", cache_);
  register_position(mixing);
}

std::shared_ptr<AttentionState> CachedAttention::make_state(int64_t batch, SessionUse use) const {
  TORCH_CHECK(use != SessionUse::fixed_context,
              "cached_attention: a layer with a cache is a self-attention, which cannot have a fixed context");
  auto state = std::make_shared<AttentionState>(batch);
  state->set_part("self_attention", self_attention_->make_state(batch, use));
  cache_->declare_state(state->part("cache"));
  return state;
}

torch::Tensor CachedAttention::forward(const torch::Tensor& query, const torch::Tensor& context,
                                       const AttentionArgs& args) {
  TORCH_CHECK(query.is_same(context),
              "cached_attention: a layer with a cache is a self-attention; pass the query as context");
  AttentionArgs cache_args = args;
  cache_args.state = part_of(args, "cache");
  const torch::Tensor own = self_output(query, args);
  const Memory memory = cache_->step(query, own, cache_args);
  notify(Signal::memory_tokens, memory.tokens);
  const torch::Tensor memory_query = query.narrow(2, 0, memory.tokens.size(2));
  const torch::Tensor memory_output = memory_attention_->forward(memory_query, memory.tokens.to(query.scalar_type()),
                                                                 {args.query, memory.layout, {}, false, nullptr});
  return mix(query, own, memory_output, args);
}

void CachedAttention::fold_affine_before(const Affine&) {
  TORCH_CHECK(false,
              "cached_attention: cannot fold in an affine map, because the cache reads the same tokens; call "
              "freeze_cache() first");
}

CachedAttention::FrozenParts CachedAttention::frozen_parts() const {
  TORCH_CHECK(!is_training(), "cached_attention: a cache can be frozen only in evaluation; call eval() first");
  const Memory memory = cache_->constant_memory();
  const torch::Tensor tokens = memory.tokens.to(memory_attention_->parameters()[0].scalar_type());
  return {mixing(), memory_attention_->with_fixed_context(tokens, memory.layout), dim_, tokens.size(2)};
}

std::shared_ptr<Attention> CachedAttention::freeze_cache() const {
  return std::make_shared<FrozenCachedAttention>(frozen_parts());
}

FrozenCachedAttention::FrozenCachedAttention(const CachedAttention::FrozenParts& parts)
    : Cloneable("FrozenCachedAttention"),
      num_heads_(parts.mixing.mixing_logit.size(0)),
      dim_(parts.dim),
      width_(parts.width) {
  register_self_attention(parts.mixing);
  memory_attention_ = register_module("memory_attention", parts.memory_attention);
  register_position(parts.mixing);
  eval();
}

torch::Tensor FrozenCachedAttention::forward(const torch::Tensor& query, const torch::Tensor& context,
                                             const AttentionArgs& args) {
  TORCH_CHECK(!is_training(), "cached_attention: a cache can be frozen only in evaluation; call eval() first");
  TORCH_CHECK(query.is_same(context),
              "cached_attention: a layer with a cache is a self-attention; pass the query as context");
  const torch::Tensor own = self_output(query, args);
  const torch::Tensor memory_output =
      memory_attention_->forward(query.narrow(2, 0, width_), {}, {args.query, {}, {}, false, nullptr});
  if (has_mixing_logit()) return mix(query, own, memory_output, args);
  return add_position(query, sum(own, memory_output), args);
}

// The memory's channels are the first of each head.
torch::Tensor FrozenCachedAttention::sum(const torch::Tensor& own, const torch::Tensor& memory_output) const {
  const auto heads = [&](const torch::Tensor& x, int64_t channels) {
    return x.view({x.size(0), x.size(1), num_heads_, channels / num_heads_});
  };
  if (!ops::composite_only()) {
    heads(own, dim_).narrow(3, 0, width_ / num_heads_).add_(heads(memory_output, width_));
    return own;
  }
  // As a graph knows it: nothing is written over.
  if (width_ == dim_) return own + memory_output;
  return own + at::constant_pad_nd(heads(memory_output, width_), {0, (dim_ - width_) / num_heads_}).flatten(2);
}

void FrozenCachedAttention::fold_share() {
  if (!has_mixing_logit()) return;
  const at::NoGradGuard no_grad;
  const torch::Tensor shares = mixing_logit.to(at::kDouble).sigmoid();
  const auto scaled = [](const torch::Tensor& scale) { return Affine{scale, at::zeros_like(scale)}; };
  const auto each_channel = [&](const torch::Tensor& of_heads, int64_t channels) {
    return scaled(of_heads.repeat_interleave(channels / num_heads_));
  };
  self_attention_->fold_affine_after(each_channel(1 - shares, dim_));  // the one that may refuse
  memory_attention_->fold_affine_after(each_channel(shares, width_));
  mixing_logit = torch::Tensor();
  *parameters_.find("share") = mixing_logit;
}

std::shared_ptr<AttentionState> FrozenCachedAttention::make_state(int64_t batch, SessionUse use) const {
  auto state = std::make_shared<AttentionState>(batch);
  state->set_part("self_attention", self_attention_->make_state(batch, use));
  return state;
}

void FrozenCachedAttention::fold_affine_before(const Affine& before) {
  TORCH_CHECK(!has_position(),
              "cached_attention: cannot fold in an affine map, because the positional convolution reads zeros beyond "
              "the border, to which the map does not apply");
  TORCH_CHECK(before.scale.numel() >= width_, "cached_attention: cannot fold in an affine map that has fewer than ",
              width_, " channels, got ", before.scale.numel());
  self_attention_->fold_affine_before(before);  // the one that may refuse
  memory_attention_->fold_affine_into_query(before.narrow(0, width_));
}

std::shared_ptr<Attention> make_self_attention(const CachedAttentionOptions& options, const AttentionFactory& make) {
  if (cached_layer_options(options.cache)) return std::make_shared<CachedAttention>(options, make);
  std::shared_ptr<Attention> attention = make(options.dim, Branch::self);
  if (is_concatenated(options.cache)) attention->concatenate_cache(options.tokens, options.layout);
  return attention;
}

std::shared_ptr<Attention> make_self_attention(const CachedAttentionOptions& options,
                                               const AttentionOptions& attention) {
  return make_self_attention(options, [&](int64_t dim, Branch branch) {
    const auto projection = branch == Branch::self ? Projection::fused : Projection::separate;
    return std::make_shared<MultiHeadAttention>(MultiHeadOptions{dim, options.num_heads, attention, projection});
  });
}

}  // namespace cachet::nn
