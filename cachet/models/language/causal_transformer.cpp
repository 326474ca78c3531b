#include "cachet/models/language/causal_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

#include "cachet/models/language/language_keys.h"
#include "cachet/models/registered_model.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/layers/positions.h"

namespace cachet::models {
namespace {

constexpr const char* kPosition = "position";  // of the next token, in a session's state

bool keeps_sums(const nn::AttentionFunctionOptions& function) {
  return nn::chosen_attention_function(function).traits.sums_past;
}

bool may_keep_whole_past(const nn::PlugIns& plug_ins) {
  return keeps_sums(plug_ins.attention.function) && !nn::cached_layer_options(plug_ins.cache);
}

void check_whole_past(const SegmentOptions& segments, const nn::PlugIns& plug_ins) {
  TORCH_CHECK(!segments.whole_past || may_keep_whole_past(plug_ins),
              "causal_transformer: whole_past needs linear attention with running sums (elu or kernel), and "
              "no cache");
}

}  // namespace

CausalTransformerOptions read_causal_transformer_options(const config::View& table, CausalTransformerOptions o) {
  o = read_language_keys(table, o);
  o.whole_past = table.boolean("whole_past", o.whole_past);
  const auto& function = o.plug_ins.attention.function;
  if (const std::string why = nn::why_not_causal(function); !why.empty()) table.table("attention").problem("kind", why);
  if (o.whole_past && !keeps_sums(function))
    table.problem("whole_past", "needs linear attention with running sums: attention.kind = \"kernel\" or \"elu\"");
  if (o.whole_past && nn::cached_layer_options(o.plug_ins.cache))
    table.problem("whole_past", "cannot be used together with a cache; choose one of the two");
  return o;
}

CausalTransformer::CausalTransformer(const CausalTransformerOptions& options)
    : Cloneable(LanguageBlockOptions{.model = "causal_transformer",
                                     .vocabulary = options.vocabulary,
                                     .ties = options.ties,
                                     .target_length = options.target_length,
                                     .depth = options.depth,
                                     .mlp_dim = options.mlp_dim,
                                     .norm_place = options.norm_place,
                                     .plug_ins = options.plug_ins,
                                     .dropout = options.dropout}),
      options_(options) {
  auto& o = options_;
  const std::string not_causal = nn::why_not_causal(o.plug_ins.attention.function);
  TORCH_CHECK(not_causal.empty(), "causal_transformer: attention ", not_causal);
  check_whole_past(segments(), o.plug_ins);
  o.plug_ins.attention.projection_dropout = o.dropout;
  const int64_t dim = o.vocabulary.dim;
  make_blocks([&] {
    nn::CachedAttentionOptions cached{.dim = dim, .num_heads = o.num_heads, .tokens = o.target_length};
    cached.cache = o.plug_ins.cache;
    return nn::make_self_attention(cached, o.plug_ins.attention);
  });
  if (o.norm_place == nn::NormPlace::before)
    norm_ = register_module("norm", nn::make_norm(o.plug_ins.norm, dim, kNormEps));
  make_output();
}

LanguageSession CausalTransformer::make_session(int64_t batch_rows, const SegmentOptions& segments) const {
  TORCH_CHECK(
      segments.memory_length == 0 && segments.clamp_length == 0 && !segments.same_length,
      "causal_transformer: memory_length and clamp_length must be 0 and same_length false, because positions are "
      "absolute and there is no memory of earlier tokens");
  check_whole_past(segments, options_.plug_ins);
  const nn::SessionUse use = segments.whole_past ? nn::SessionUse::decoding : nn::SessionUse::segments;
  LanguageSession session = block_session(batch_rows, segments, use);
  if (segments.whole_past) {
    session.state->declare(kPosition, nn::StateOwner::shared);
    session.state->set(kPosition, at::full({1}, 0, at::kLong));
  }
  return session;
}

std::optional<std::string> CausalTransformer::why_not_replayed() const {
  if (!options_.whole_past) return std::nullopt;
  return "the position in the text is a number on the host (whole_past)";
}

torch::Tensor CausalTransformer::positions(int64_t first, const torch::Tensor& like) {
  const auto serves = [&](const Positions& kept) {
    return kept.first == first && kept.table.size(1) == like.size(1) && kept.table.device() == like.device() &&
           kept.table.scalar_type() == like.scalar_type();
  };
  return positions_
      .get(serves,
           [&] {
             return Positions{first, nn::sinusoidal_positions(like.size(1), options_.vocabulary.dim, first)
                                         .to(like.options().requires_grad(false))};
           })
      ->table;
}

torch::Tensor CausalTransformer::encode(const torch::Tensor& ids, LanguageSession& session) {
  const torch::Tensor tokens = embed(ids, session);
  int64_t first = 0;
  if (session.segments.whole_past) {
    first = session.state->get(kPosition).item<int64_t>();
    session.state->set(kPosition, at::full({1}, first + ids.size(1), at::kLong));
  }
  nn::AttentionArgs args;
  args.causal = true;
  const torch::Tensor x = through_blocks(drop(tokens + positions(first, tokens)), args, session);
  return norm_ ? norm_->forward(x) : x;
}

std::vector<RegisteredModel> causal_transformer_models() {
  // For corpora of a few million words and machines without a GPU: as transformer_xl_small.
  CausalTransformerOptions small;
  small.vocabulary = {.tokens = 33278, .dim = 256, .cutoffs = {4000, 12000}};
  small.target_length = 64;
  const char* name = "causal_transformer_small";
  return {{.name = name, .language_model = [=](const config::View& table, const LanguageDefaults& defaults) {
             CausalTransformerOptions own = small;
             if (defaults.vocabulary) own.vocabulary.tokens = *defaults.vocabulary;
             own = read_causal_transformer_options(table, own);
             const auto build = [own] { return std::make_shared<CausalTransformer>(own); };
             return LanguageModelPlan{name,
                                      {own.vocabulary.tokens, own.target_length},
                                      {.whole_past = own.whole_past},
                                      build,
                                      /*relative_positions=*/false};
           }}};
}

}  // namespace cachet::models
