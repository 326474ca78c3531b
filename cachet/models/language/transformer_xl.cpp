#include "cachet/models/language/transformer_xl.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include <cmath>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/functions/relative_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/base/initialization.h"
#include "cachet/nn/layers/positions.h"

namespace cachet::models {
namespace {

constexpr const char* kMemoryTokens = "memory_tokens";

// What a token sees: those before it and itself, within the last `window` where that is above 0. Without a window,
// memory tokens before the segment see each other, those after it all of the segment, too, and both the past only if
// they are to; with one they are tokens as any, as in the published code.
torch::Tensor hidden_keys(int64_t length, int64_t past, int64_t window, const MemoryTokenOptions& memory) {
  const torch::Tensor distance =
      at::arange(length, at::kLong).unsqueeze(1) + past - at::arange(past + length, at::kLong);
  torch::Tensor hidden = distance.lt(0);
  if (window > 0) return hidden.logical_or(distance.ge(window));
  const auto see = [&](int64_t first_row, int64_t columns) {
    torch::Tensor rows = hidden.narrow(0, first_row, memory.count);
    rows.narrow(1, past, columns).fill_(false);
    if (!memory.reads_past) rows.narrow(1, 0, past).fill_(true);
  };
  if (memory.count == 0) return hidden;
  see(0, memory.count);
  if (memory.recurrent) see(length - memory.count, length);
  return hidden;
}

}  // namespace

TransformerXL::TransformerXL(const TransformerXLOptions& options)
    : Cloneable(LanguageBlockOptions{.model = "transformer_xl",
                                     .vocabulary = options.vocabulary,
                                     .ties = options.ties,
                                     .target_length = options.target_length,
                                     .depth = options.depth,
                                     .mlp_dim = options.mlp_dim,
                                     .norm_place = options.norm_place,
                                     .plug_ins = options.plug_ins,
                                     .dropout = options.dropout,
                                     .activation = nn::Activation::relu}),
      options_(options) {
  auto& o = options_;
  TORCH_CHECK(o.memory_tokens.count >= 0, "transformer_xl: the number of memory tokens must be at least 0, got ",
              o.memory_tokens.count);
  o.plug_ins.attention.projection_dropout = o.dropout;
  const int64_t dim = o.vocabulary.dim;
  if (o.memory_tokens.count > 0) {
    memory_tokens_ = register_parameter(kMemoryTokens, at::empty({1, o.memory_tokens.count, dim}));
    // As large as embeddings, which are scaled.
    nn::normal_(memory_tokens_, kSpread * std::sqrt(static_cast<double>(dim)));
  }
  const nn::RelativeAttentionOptions relative{dim, o.num_heads, o.plug_ins.attention};
  const auto biases = nn::RelativeBiases::make(o.num_heads, nn::RelativeAttention::head_dim(relative));
  const nn::AttentionFactory make_attention = [&](int64_t width, nn::Branch branch) -> std::shared_ptr<nn::Attention> {
    if (branch == nn::Branch::self) return std::make_shared<nn::RelativeAttention>(relative, biases);
    nn::AttentionOptions memory;
    memory.function = o.plug_ins.attention.function;
    memory.projection_dropout = o.dropout;
    return std::make_shared<nn::MultiHeadAttention>(
        nn::MultiHeadOptions{width, o.num_heads, memory, nn::Projection::separate});
  };
  make_blocks([&] {
    nn::CachedAttentionOptions cached{.dim = dim, .num_heads = o.num_heads, .tokens = o.target_length};
    cached.cache = o.plug_ins.cache;
    return nn::make_self_attention(cached, make_attention);
  });
  make_output();
}

LanguageSession TransformerXL::make_session(int64_t batch_rows, const SegmentOptions& segments) const {
  TORCH_CHECK(segments.memory_length >= 0 && segments.clamp_length >= 0,
              "transformer_xl: memory_length and clamp_length must be at least 0, got ", segments.memory_length,
              " and ", segments.clamp_length);
  TORCH_CHECK(segments.memory_length == 0 || !blocks_[0]->has_cache(),
              "transformer_xl: a cache replaces the memory, so memory_length must be 0, got ", segments.memory_length);
  TORCH_CHECK(!segments.whole_past,
              "transformer_xl: whole_past must be false, because whole_past is for linear attention; set memory_length "
              "instead");
  TORCH_CHECK(
      !segments.same_length || segments.memory_length > 0,
      "transformer_xl: with same_length, each token sees memory_length tokens, so memory_length must be above 0");
  const nn::SessionUse use = segments.memory_length == 0 ? nn::SessionUse::segments
                             : is_training()             ? nn::SessionUse::memory
                                                         : nn::SessionUse::decoding;
  LanguageSession session = block_session(batch_rows, segments, use);
  if (options_.memory_tokens.recurrent) session.state->declare(kMemoryTokens, nn::StateOwner::batch_rows);
  session.state->keep_last(segments.memory_length);
  return session;
}

nn::RelativeLayout TransformerXL::positions(int64_t length, const LanguageSession& session, const torch::Tensor& like) {
  const int64_t past = session.state->past(), clamp = session.segments.clamp_length;
  const int64_t window = session.segments.same_length ? session.segments.memory_length : 0;
  const auto serves = [&](const Positions& kept) {
    const torch::Tensor& distances = kept.layout.distances;
    return kept.length == length && kept.past == past && kept.clamp_length == clamp && kept.window == window &&
           distances.device() == like.device() && distances.scalar_type() == like.scalar_type();
  };
  return positions_
      .get(serves,
           [&] {
             return Positions{length,
                              past,
                              clamp,
                              window,
                              {nn::distance_sinusoids(past + length, options_.vocabulary.dim, clamp,
                                                      like.options().requires_grad(false)),
                               hidden_keys(length, past, window, options_.memory_tokens).to(like.device())}};
           })
      ->layout;
}

// Those that the segment before left, at first the model's own.
torch::Tensor TransformerXL::with_memory_tokens(const torch::Tensor& tokens, const LanguageSession& session) const {
  if (options_.memory_tokens.count == 0) return tokens;
  torch::Tensor memory = session.state->get(kMemoryTokens);
  if (!memory.defined()) memory = memory_tokens_.to(tokens.scalar_type()).expand({tokens.size(0), -1, -1});
  return options_.memory_tokens.recurrent ? at::cat({memory, tokens, memory}, 1) : at::cat({memory, tokens}, 1);
}

torch::Tensor TransformerXL::encode(const torch::Tensor& ids, LanguageSession& session) {
  torch::Tensor x = drop(with_memory_tokens(embed(ids, session), session));
  nn::AttentionArgs args;
  args.causal = true;
  args.relative = positions(x.size(1), session, x);
  args.relative.distances = drop(args.relative.distances);
  x = through_blocks(x, args, session);
  const int64_t memory = options_.memory_tokens.count;
  if (options_.memory_tokens.recurrent) session.state->set(kMemoryTokens, x.narrow(1, x.size(1) - memory, memory));
  return memory == 0 ? x : x.narrow(1, memory, ids.size(1));
}

}  // namespace cachet::models
