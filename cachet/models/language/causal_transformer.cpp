#include "cachet/models/language/causal_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/full.h>
#include <torch/nn/modules/container/modulelist.h>

#include "cachet/models/language/language_keys.h"
#include "cachet/models/registered_model.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/initialization.h"
#include "cachet/nn/option_checks.h"
#include "cachet/nn/positions.h"

namespace cachet::models {
namespace {

constexpr double kCausalNormEps = 1e-5;
constexpr double kCausalSpread = 0.02;  // of weights before training

constexpr const char* kPosition = "position";  // of the next token, in a stream's state

bool keeps_sums(const nn::AttentionFunctionOptions& function) {
  return std::holds_alternative<nn::EluOptions>(function) || std::holds_alternative<nn::KernelOptions>(function);
}

// Performer's features of the softmax are scaled by the largest of all keys, those to come too: a token would see a
// little of its future.
bool may_be_causal(const nn::AttentionFunctionOptions& function) {
  if (const auto* performer = std::get_if<nn::PerformerOptions>(&function))
    return performer->form == nn::RandomFeatures::relu;
  return !std::holds_alternative<nn::BigBirdOptions>(function) && !std::holds_alternative<nn::LshOptions>(function);
}

std::string causal_block(size_t i) { return "block_" + std::to_string(i); }

}  // namespace

CausalTransformerOptions read_causal_transformer_options(const config::View& table, CausalTransformerOptions o) {
  o = read_language_keys(table, o);
  o.whole_past = table.boolean("whole_past", o.whole_past);
  const auto& function = o.plug_ins.attention.function;
  if (!may_be_causal(function))
    table.table("attention")
        .problem("kind",
                 "cannot be causal; choose softmax, local, elu, kernel, or performer with "
                 "features = \"relu\"");
  if (o.whole_past && !keeps_sums(function))
    table.problem("whole_past", "needs attention that sums up the past: attention.kind = \"kernel\" or \"elu\"");
  if (o.whole_past && nn::cached_layer_options(o.plug_ins.cache))
    table.problem("whole_past", "and a cache exclude each other: choose one memory");
  return o;
}

CausalTransformer::CausalTransformer(const CausalTransformerOptions& options) : options_(options) {
  auto& o = options_;
  nn::check_positive("causal_transformer: target_length", o.target_length);
  nn::check_positive("causal_transformer: depth", o.depth);
  nn::check_positive("causal_transformer: mlp_dim", o.mlp_dim);
  nn::check_dropout("causal_transformer: dropout", o.dropout);
  TORCH_CHECK(
      may_be_causal(o.plug_ins.attention.function),
      "causal_transformer: the attention of BigBird and Reformer, and Performer's with features of the softmax, "
      "cannot be causal");
  TORCH_CHECK(!o.whole_past || (keeps_sums(o.plug_ins.attention.function) && !cached_layer_options(o.plug_ins.cache)),
              "causal_transformer: whole_past needs attention that sums up the past (elu, kernel), and no cache");
  o.plug_ins.attention.projection_dropout = o.dropout;
  const int64_t dim = o.vocabulary.dim;
  embedding_ = register_module("embedding", std::make_shared<nn::AdaptiveEmbedding>(o.vocabulary));
  nn::TransformerBlockOptions block;
  block.dim = dim;
  block.norm_eps = kCausalNormEps;
  block.norm_place = o.norm_place;
  torch::nn::ModuleList blocks = register_module("blocks", torch::nn::ModuleList());
  for (int64_t i = 0; i < o.depth; ++i) {
    nn::BlockParts parts;
    parts.attention =
        nn::make_self_attention({dim, o.num_heads, o.target_length, {}, o.plug_ins.cache}, o.plug_ins.attention);
    parts.feed_forward = std::make_shared<nn::FeedForward>(nn::FeedForwardOptions{dim, o.mlp_dim, o.dropout});
    blocks_.push_back(std::make_shared<nn::TransformerBlock>(block, o.plug_ins.norm, parts));
    blocks->push_back(blocks_.back());
  }
  if (o.norm_place == nn::NormPlace::before)
    norm_ = register_module("norm", nn::make_norm(o.plug_ins.norm, dim, kCausalNormEps));
  output_ = register_module("output", std::make_shared<nn::AdaptiveSoftmax>(o.vocabulary, o.ties, embedding_));
  for (const auto& module : modules(/*include_self=*/false))
    if (auto* linear = dynamic_cast<nn::Linear*>(module.get())) nn::normal_(linear->weight, kCausalSpread);
}

torch::Tensor CausalTransformer::drop(const torch::Tensor& x) const {
  return at::dropout(x, options_.dropout, is_training());
}

TextStream CausalTransformer::make_stream(int64_t lanes, const SegmentOptions& segments) const {
  TORCH_CHECK(segments.memory_length == 0 && segments.clamp_length == 0 && !segments.same_length,
              "causal_transformer: positions are absolute, and there is no memory of earlier tokens; memory_length and "
              "clamp_length must be 0, same_length false");
  TORCH_CHECK(!segments.whole_past || (keeps_sums(options_.plug_ins.attention.function) && !remembers_segments()),
              "causal_transformer: whole_past needs attention that sums up the past (elu, kernel), and no cache");
  const nn::StreamUse use = segments.whole_past ? nn::StreamUse::decoding : nn::StreamUse::segments;
  TextStream stream{segments, std::make_shared<nn::AttentionState>(lanes)};
  for (size_t i = 0; i < blocks_.size(); ++i)
    stream.state->set_part(causal_block(i), blocks_[i]->make_state(lanes, use));
  if (segments.whole_past) {
    stream.state->declare(kPosition, nn::StateOwner::shared);
    stream.state->set(kPosition, at::full({1}, 0, at::kLong));
  }
  return stream;
}

torch::Tensor CausalTransformer::positions(int64_t first, const torch::Tensor& like) {
  const auto serves = [&](const Places& kept) {
    return kept.first == first && kept.table.size(1) == like.size(1) && kept.table.device() == like.device() &&
           kept.table.scalar_type() == like.scalar_type();
  };
  return places_
      .get(serves,
           [&] {
             return Places{first, nn::sinusoidal_positions(like.size(1), options_.vocabulary.dim, first)
                                      .to(like.options().requires_grad(false))};
           })
      ->table;
}

torch::Tensor CausalTransformer::encode(const torch::Tensor& ids, TextStream& stream) {
  TORCH_CHECK(ids.dim() == 2 && ids.size(1) >= 1 && ids.scalar_type() == at::kLong,
              "causal_transformer: ids must be int64 (lanes, L) with a token or more, got ", ids.scalar_type(), " ",
              ids.sizes());
  TORCH_CHECK(stream.state && stream.state->lanes() == ids.size(0), "causal_transformer: ids have ", ids.size(0),
              " lanes, the stream ", stream.state ? stream.state->lanes() : 0);
  int64_t first = 0;
  if (stream.segments.whole_past) {
    first = stream.state->get(kPosition).item<int64_t>();
    stream.state->set(kPosition, at::full({1}, first + ids.size(1), at::kLong));
  }
  const torch::Tensor tokens = embedding_->forward(ids);
  torch::Tensor x = drop(tokens + positions(first, tokens));
  nn::AttentionLayout layout;
  layout.causal = true;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    layout.state = &stream.state->part(causal_block(i));
    x = blocks_[i]->forward(x, layout);
  }
  return norm_ ? norm_->forward(x) : x;
}

torch::Tensor CausalTransformer::negative_log_likelihood(const torch::Tensor& ids, const torch::Tensor& targets,
                                                         TextStream& stream) {
  TORCH_CHECK(targets.sizes() == ids.sizes(), "causal_transformer: targets must be as many as ids, ", ids.sizes(),
              ", got ", targets.sizes());
  const torch::Tensor hidden = drop(encode(ids, stream));
  return output_->negative_log_likelihood(hidden.flatten(0, 1), targets.flatten()).view(ids.sizes());
}

torch::Tensor CausalTransformer::next_token(const torch::Tensor& ids, TextStream& stream) {
  return output_->log_probabilities(drop(encode(ids, stream)).select(1, -1));
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
             return LanguageModelPlan{
                 name, {own.vocabulary.tokens, own.target_length}, {.whole_past = own.whole_past}, build};
           }}};
}

}  // namespace cachet::models
