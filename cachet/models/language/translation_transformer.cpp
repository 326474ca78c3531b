#include "cachet/models/language/translation_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <torch/nn/modules/container/modulelist.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/base/initialization.h"
#include "cachet/nn/base/observer.h"
#include "cachet/nn/base/option_checks.h"
#include "cachet/nn/layers/positions.h"
#include "cachet/ops/linear/linear_cross_entropy.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::models {
namespace {

constexpr double kTranslationNormEps = 1e-5;  // of fairseq's norms

std::string decoder_part(size_t i) { return "block_" + std::to_string(i); }

void check_special_tokens(const TranslationTokens& tokens, int64_t vocabulary) {
  for (const int64_t id : {tokens.padding, tokens.begin, tokens.end})
    TORCH_CHECK(id >= 0 && id < vocabulary,
                "translation_transformer: the padding, begin and end tokens must be in the target vocabulary of ",
                vocabulary, " tokens, got token ", id);
  const int64_t most = std::max({tokens.padding, tokens.begin, tokens.end});
  TORCH_CHECK(tokens.known == 0 || (tokens.known > most && tokens.known <= vocabulary),
              "translation_transformer: the known tokens must include padding, begin and end, and be at most the ",
              vocabulary, " tokens of the target vocabulary, got ", tokens.known);
}

const TranslationTransformerOptions& checked_options(const TranslationTransformerOptions& o) {
  nn::check_positive("translation_transformer: source_vocabulary", o.text.source_vocabulary);
  nn::check_positive("translation_transformer: target_vocabulary", o.text.target_vocabulary);
  nn::check_positive("translation_transformer: source_length", o.text.source_length);
  nn::check_positive("translation_transformer: target_length", o.text.target_length);
  for (const TransformerHalf* half : {&o.encoder, &o.decoder}) {
    nn::check_positive("translation_transformer: depth", half->depth);
    nn::check_positive("translation_transformer: mlp_dim", half->mlp_dim);
  }
  nn::check_dropout("translation_transformer: dropout", o.dropout);
  check_special_tokens(o.text.tokens, o.text.target_vocabulary);
  TORCH_CHECK(o.shared != SharedEmbeddings::all || o.text.source_vocabulary == o.text.target_vocabulary,
              "translation_transformer: if all embeddings are shared, both vocabularies must have the same size, got ",
              o.text.source_vocabulary, " and ", o.text.target_vocabulary, " tokens");
  const std::string not_causal = nn::why_not_causal(o.decoder_attention.function);
  TORCH_CHECK(not_causal.empty(), "translation_transformer: decoder_attention ", not_causal);
  const std::string not_causal_norm = nn::why_norm_not_causal(o.plug_ins.norm);
  TORCH_CHECK(not_causal_norm.empty(), "translation_transformer: the norm ", not_causal_norm);
  const std::string not_across = nn::why_not_across(o.cross_attention.function);
  TORCH_CHECK(not_across.empty(), "translation_transformer: cross_attention ", not_across);
  return o;
}

void check_sentences(const char* what, const Sequences& sentences, int64_t longest) {
  const torch::Tensor& ids = sentences.ids;
  TORCH_CHECK(
      ids.defined() && ids.dim() == 2 && ids.scalar_type() == at::kLong && ids.size(1) >= 1 && ids.size(1) <= longest,
      "translation_transformer: ", what, " must be int64 (B, L) with L from 1 to ", longest, ", got ",
      ids.defined() ? ids.sizes() : at::IntArrayRef());
}

}  // namespace

TranslationTransformer::TranslationTransformer(const TranslationTransformerOptions& options)
    : options_(checked_options(options)) {
  const auto& o = options_;
  const auto table = [&](const char* name, int64_t tokens, const torch::Tensor& shared) {
    const auto group = register_module(name, std::make_shared<nn::ModuleGroup>("Embedding"));
    return group->register_parameter("weight", shared.defined() ? shared : at::empty({tokens, o.embed_dim}));
  };
  source_table_ = table("source_embed", o.text.source_vocabulary, {});
  const bool all = o.shared == SharedEmbeddings::all;
  target_table_ = table("target_embed", o.text.target_vocabulary, all ? source_table_ : torch::Tensor());
  make_encoder();
  make_decoder();
  const bool own_output = o.shared == SharedEmbeddings::none;
  output_ = register_module(
      "output", own_output ? std::make_shared<nn::Linear>(o.embed_dim, o.text.target_vocabulary, /*with_bias=*/false)
                           : std::make_shared<nn::Linear>(target_table_, torch::Tensor()));
  initialize();
}

void TranslationTransformer::make_encoder() {
  const auto& o = options_;
  nn::TransformerBlockOptions block;
  block.dim = o.embed_dim;
  block.norm_eps = kTranslationNormEps;
  block.norm_place = o.norm_place;
  torch::nn::ModuleList blocks = register_module("encoder_blocks", torch::nn::ModuleList());
  for (int64_t i = 0; i < o.encoder.depth; ++i) {
    nn::BlockParts parts;
    nn::CachedAttentionOptions cached{
        .dim = o.embed_dim, .num_heads = o.encoder.num_heads, .tokens = o.text.source_length};
    cached.cache = o.plug_ins.cache;
    parts.attention = nn::make_self_attention(cached, o.plug_ins.attention);
    parts.feed_forward = std::make_shared<nn::FeedForward>(
        nn::FeedForwardOptions{o.embed_dim, o.encoder.mlp_dim, o.dropout, o.activation, o.activation_dropout});
    encoder_blocks_.push_back(std::make_shared<nn::TransformerBlock>(block, o.plug_ins, parts));
    blocks->push_back(encoder_blocks_.back());
  }
  if (o.norm_place == nn::NormPlace::before)
    encoder_norm_ = register_module("encoder_norm", nn::make_norm(o.plug_ins.norm, o.embed_dim, kTranslationNormEps));
}

void TranslationTransformer::make_decoder() {
  const auto& o = options_;
  nn::TransformerBlockOptions block;
  block.dim = o.embed_dim;
  block.norm_eps = kTranslationNormEps;
  block.norm_place = o.norm_place;
  torch::nn::ModuleList blocks = register_module("decoder_blocks", torch::nn::ModuleList());
  for (int64_t i = 0; i < o.decoder.depth; ++i) {
    nn::BlockParts parts;
    parts.attention = std::make_shared<nn::MultiHeadAttention>(
        nn::MultiHeadOptions{o.embed_dim, o.decoder.num_heads, o.decoder_attention, nn::Projection::fused});
    parts.feed_forward = std::make_shared<nn::FeedForward>(
        nn::FeedForwardOptions{o.embed_dim, o.decoder.mlp_dim, o.dropout, o.activation, o.activation_dropout});
    cross_attentions_.push_back(std::make_shared<nn::MultiHeadAttention>(
        nn::MultiHeadOptions{o.embed_dim, o.decoder.num_heads, o.cross_attention, nn::Projection::separate}));
    parts.cross_attention = cross_attentions_.back();
    decoder_blocks_.push_back(std::make_shared<nn::TransformerBlock>(block, o.plug_ins, parts));
    blocks->push_back(decoder_blocks_.back());
  }
  if (o.norm_place == nn::NormPlace::before)
    decoder_norm_ = register_module("decoder_norm", nn::make_norm(o.plug_ins.norm, o.embed_dim, kTranslationNormEps));
}

void TranslationTransformer::initialize() {
  const at::NoGradGuard no_grad;
  const double spread = 1 / std::sqrt(static_cast<double>(options_.embed_dim));
  for (const auto& module : modules(/*include_self=*/false)) {
    if (auto* linear = dynamic_cast<nn::Linear*>(module.get())) nn::xavier_uniform_(linear->weight);
    // A fused weight is three times as high, which halves the variance already.
    if (dynamic_cast<nn::MultiHeadAttention*>(module.get()) == nullptr) continue;
    for (auto& parameter : module->named_parameters()) {
      if (parameter.key() == "q.weight") nn::scale_(parameter.value(), std::sqrt(0.5));
      if (parameter.key() == "kv.weight") nn::scale_(parameter.value(), std::sqrt(0.75));
    }
  }
  nn::normal_(output_->weight, spread);
  for (torch::Tensor* table :
       {static_cast<torch::Tensor*>(&source_table_), static_cast<torch::Tensor*>(&target_table_)}) {
    nn::normal_(*table, spread);
    const int64_t padding = options_.text.tokens.padding;
    if (padding < table->size(0)) table->select(0, padding).zero_();
  }
}

torch::Tensor TranslationTransformer::positions(const torch::Tensor& like) {
  const auto& text = options_.text;
  return *positions_.get(
      [&](const torch::Tensor& kept) {
        return kept.scalar_type() == like.scalar_type() && kept.device() == like.device();
      },
      [&] {
        return nn::half_sinusoids(text.tokens.padding + 1, std::max(text.source_length, text.target_length),
                                  options_.embed_dim, like.options().requires_grad(false));
      });
}

torch::Tensor TranslationTransformer::embed(const torch::Tensor& table, const Sequences& sentences) {
  const torch::Tensor tokens = at::embedding(table, sentences.ids) * std::sqrt(static_cast<double>(options_.embed_dim));
  const torch::Tensor all = positions(tokens);
  torch::Tensor positions = all.narrow(0, 0, sentences.ids.size(1));
  if (sentences.padding.defined()) {
    const torch::Tensor counted = sentences.padding.bitwise_not().cumsum(1).sub_(1).clamp_min_(0);
    positions = at::embedding(all, counted);
  }
  const torch::Tensor x = ops::dropout(tokens + positions, options_.dropout, is_training());
  return nn::zero_padding(x, {std::nullopt, 0, sentences.padding});
}

void TranslationTransformer::set_tokens(const TranslationTokens& tokens) {
  check_special_tokens(tokens, options_.text.target_vocabulary);
  TORCH_CHECK(tokens.padding == options_.text.tokens.padding, "translation_transformer: the padding token must stay ",
              options_.text.tokens.padding, ", because positions are counted from this token, got ", tokens.padding);
  options_.text.tokens = tokens;
}

EncodedSentences TranslationTransformer::encode(const Sequences& source) {
  check_sentences("the source", source, options_.text.source_length);
  const auto layout = nn::AttentionArgs::self({std::nullopt, 0, source.padding, options_.text.source_length});
  torch::Tensor x = embed(source_table_, source);
  for (const auto& block : encoder_blocks_) x = block->forward(x, layout);
  if (encoder_norm_) x = encoder_norm_->forward(x, source.padding);
  return {nn::zero_padding(x, layout.query), source.padding};
}

torch::Tensor TranslationTransformer::decode(const Sequences& target, const EncodedSentences& source) {
  check_sentences("the target", target, options_.text.target_length);
  nn::AttentionArgs args = nn::AttentionArgs::self({std::nullopt, 0, target.padding});
  args.causal = true;
  const nn::EncoderTokens encoder{source.tokens, {std::nullopt, 0, source.padding}};
  torch::Tensor x = embed(target_table_, target);
  for (const auto& block : decoder_blocks_) x = block->forward(x, args, encoder);
  return decoder_norm_ ? decoder_norm_->forward(x, target.padding) : x;
}

TranslationLosses TranslationTransformer::losses(const SentencePairs& pairs, const LabelSmoothing& smoothing) {
  TORCH_CHECK(pairs.targets.defined() && pairs.targets.sizes() == pairs.target.ids.sizes(),
              "translation_transformer: targets must have the shape of the target's input tokens, ",
              pairs.target.ids.sizes());
  const torch::Tensor hidden = decode(pairs.target, encode(pairs.source));
  const auto bias = output_->bias.defined() ? std::optional<at::Tensor>(output_->bias) : std::nullopt;
  const ops::CrossEntropies entropies =
      ops::linear_cross_entropy(hidden.flatten(0, 1), output_->weight, bias, pairs.targets.flatten(),
                                smoothing_among_others(smoothing, options_.text.target_vocabulary));
  return {entropies.loss.view(pairs.targets.sizes()), entropies.negative_log_likelihood.view(pairs.targets.sizes())};
}

TranslationSession TranslationTransformer::make_session(const EncodedSentences& source) {
  TORCH_CHECK(!is_training(), "translation_transformer: translation needs evaluation mode; call eval() first");
  const int64_t batch_rows = source.tokens.size(0);
  TranslationSession session{std::make_shared<nn::AttentionState>(batch_rows), source};
  for (size_t i = 0; i < decoder_blocks_.size(); ++i)
    session.state->set_part(decoder_part(i), decoder_blocks_[i]->make_state(batch_rows, nn::SessionUse::decoding));
  return session;
}

torch::Tensor TranslationTransformer::next_token(const torch::Tensor& ids, TranslationSession& session) {
  TORCH_CHECK(ids.dim() == 1 && ids.size(0) == session.batch_rows() && ids.scalar_type() == at::kLong,
              "translation_transformer: ids must be int64 (", session.batch_rows(), "), one for each batch row, got ",
              ids.sizes());
  TORCH_CHECK(session.written < options_.text.target_length, "translation_transformer: a translation may have at most ",
              options_.text.target_length, " tokens");
  torch::Tensor x = embed_tokens(ids);
  x = x + positions(x).narrow(0, session.written, 1);
  x = next_log_probabilities(x, *session.state, session.source);
  session.source = {};  // its keys and values are in the state
  ++session.written;
  return x;
}

torch::Tensor TranslationTransformer::embed_tokens(const torch::Tensor& ids) const {
  return at::embedding(target_table_, ids.unsqueeze(1)) * std::sqrt(static_cast<double>(options_.embed_dim));
}

torch::Tensor TranslationTransformer::next_log_probabilities(torch::Tensor x, nn::AttentionState& state,
                                                             const EncodedSentences& source) {
  nn::AttentionArgs args;
  args.causal = true;
  const nn::EncoderTokens encoder{source.tokens, {std::nullopt, 0, source.padding}};
  for (size_t i = 0; i < decoder_blocks_.size(); ++i) {
    args.state = &state.part(decoder_part(i));
    x = decoder_blocks_[i]->forward(x, args, encoder);
  }
  if (decoder_norm_) x = decoder_norm_->forward(x);
  const torch::Tensor logits = scores(x.squeeze(1));
  return logits.log_softmax(-1, c10::promoteTypes(logits.scalar_type(), at::kFloat));
}

std::optional<std::string> TranslationTransformer::why_no_fixed_session() const {
  if (std::holds_alternative<nn::SoftmaxOptions>(options_.decoder_attention.function)) return std::nullopt;
  return "the state of the decoder's attention has no fixed size, or its positions are numbers on the host; only "
         "softmax attention has one";
}

FixedSession TranslationTransformer::make_fixed_session(const EncodedSentences& source, int64_t beam,
                                                        int64_t capacity) {
  TORCH_CHECK(!is_training(), "translation_transformer: translation needs evaluation mode; call eval() first");
  TORCH_CHECK(!why_no_fixed_session(), "translation_transformer: no session of a fixed size, because ",
              *why_no_fixed_session());
  TORCH_CHECK(capacity >= 1 && capacity <= options_.text.target_length,
              "translation_transformer: the capacity of a session must be from 1 to ", options_.text.target_length,
              ", got ", capacity);
  const int64_t rows = source.tokens.size(0) * beam;
  FixedSession session{std::make_shared<nn::AttentionState>(rows),
                       at::zeros({1}, source.tokens.options().dtype(at::kLong))};
  for (size_t i = 0; i < decoder_blocks_.size(); ++i) {
    session.state->set_part(decoder_part(i), decoder_blocks_[i]->make_state(rows, nn::SessionUse::decoding));
    nn::AttentionState& block = session.state->part(decoder_part(i));
    const auto fixed = std::make_shared<nn::AttentionState>(rows);
    for (const char* name : {"keys", "values"})
      fixed->declare(name, at::constant_pad_nd(block.part("attn").get(name), {0, 0, 0, capacity}));
    fixed->declare("position", nn::StateOwner::shared);
    block.set_part("attn", fixed);
  }
  fixed_tensors(session);
  // The first call leaves the keys and values of the source in the state; the first token overwrites what it reads.
  const torch::Tensor any = at::zeros({rows}, session.position.options());
  next_log_probabilities(embed_tokens(any), *session.state, source);
  return session;
}

torch::Tensor TranslationTransformer::next_fixed(const torch::Tensor& ids, FixedSession& session) {
  fixed_tensors(session);
  const torch::Tensor x = embed_tokens(ids);
  return next_log_probabilities(x + positions(x).index_select(0, session.position), *session.state, {});
}

void TranslationTransformer::reorder_fixed(FixedSession& session, const torch::Tensor& rows) const {
  for (size_t i = 0; i < decoder_blocks_.size(); ++i) {
    const nn::AttentionState& attention = session.state->part(decoder_part(i)).part("attn");
    for (const char* name : {"keys", "values"}) {
      const torch::Tensor all = attention.get(name);
      all.copy_(all.index_select(0, rows));
    }
  }
}

void TranslationTransformer::extend_fixed(FixedSession& session, int64_t capacity) const {
  for (size_t i = 0; i < decoder_blocks_.size(); ++i) {
    nn::AttentionState& attention = session.state->part(decoder_part(i)).part("attn");
    for (const char* name : {"keys", "values"}) {
      const torch::Tensor all = attention.get(name);
      attention.set(name, at::constant_pad_nd(all, {0, 0, 0, capacity - all.size(2)}));
    }
  }
}

// Each layer holds the position, which is one tensor: it is set anew, because the caller may have replaced it.
std::vector<at::Tensor*> TranslationTransformer::fixed_tensors(FixedSession& session) const {
  for (size_t i = 0; i < decoder_blocks_.size(); ++i)
    session.state->part(decoder_part(i)).part("attn").set("position", session.position);
  std::vector<at::Tensor*> tensors = session.state->tensors();
  std::erase_if(tensors, [&](const at::Tensor* tensor) { return tensor->is_same(session.position); });
  tensors.push_back(&session.position);
  return tensors;
}

void TranslationTransformer::reorder(TranslationSession& session, const torch::Tensor& rows,
                                     bool same_sentences) const {
  if (!same_sentences) {
    session.state->reorder(rows);
    if (session.source.tokens.defined()) {
      const torch::Tensor index = rows.to(session.source.tokens.device());
      session.source.tokens = session.source.tokens.index_select(0, index);
      if (session.source.padding.defined()) session.source.padding = session.source.padding.index_select(0, index);
    }
    return;
  }
  TORCH_CHECK(rows.numel() == session.batch_rows(),
              "translation_transformer: if the sentences stay the same, the number of rows must be ",
              session.batch_rows(), ", got ", rows.numel());
  for (size_t i = 0; i < decoder_blocks_.size(); ++i) session.state->part(decoder_part(i)).part("attn").reorder(rows);
}

torch::Tensor TranslationTransformer::cross_attention(const SentencePairs& pairs) {
  TORCH_CHECK(!is_training(), "translation_transformer: cross_attention needs evaluation mode; call eval() first");
  const EncodedSentences source = encode(pairs.source);
  nn::MultiHeadAttention& last = *cross_attentions_.back();
  torch::Tensor queries;
  {
    const nn::Observation seen(last, [&](const std::string&, nn::Signal signal, const at::Tensor& value) {
      if (signal == nn::Signal::attention_operands) queries = value;
    });
    decode(pairs.target, source);
  }
  const nn::TokenLayout context{std::nullopt, 0, source.padding};
  return last.weights_of(queries, source.tokens, {{}, context, {}, false, nullptr}).mean(1);
}

std::vector<nn::NormFold> TranslationTransformer::norm_folds() {
  if (!encoder_norm_) return {};
  std::vector<nn::NormFold> folds{
      nn::fold_into_reader(*this, "encoder_norm", encoder_norm_, [this](const nn::Affine& before) {
        for (const auto& cross : cross_attentions_) cross->fold_affine_into_context(before);
      })};
  if (options_.shared == SharedEmbeddings::none)
    folds.push_back(nn::fold_into_reader(*this, "decoder_norm", decoder_norm_,
                                         [this](const nn::Affine& before) { output_->fold_affine_before(before); }));
  else
    folds.push_back(nn::leave_norm(*this, "decoder_norm", decoder_norm_,
                                   "the output layer shares its weights with the embeddings"));
  return folds;
}

}  // namespace cachet::models
