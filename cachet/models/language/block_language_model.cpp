#include "cachet/models/language/block_language_model.h"

#include <ATen/TensorOperators.h>
#include <torch/nn/modules/container/modulelist.h>

#include "cachet/nn/base/initialization.h"
#include "cachet/nn/base/option_checks.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::models {
namespace {

std::string language_block(size_t i) { return "block_" + std::to_string(i); }

}  // namespace

BlockLanguageModel::BlockLanguageModel(const LanguageBlockOptions& options) : made_of_(options) {
  const LanguageBlockOptions& o = made_of_;
  const auto check = [&](const char* name, int64_t value) {
    nn::check_positive((o.model + ": " + name).c_str(), value);
  };
  check("target_length", o.target_length);
  check("depth", o.depth);
  check("mlp_dim", o.mlp_dim);
  nn::check_dropout((o.model + ": dropout").c_str(), o.dropout);
  const std::string why_not = nn::why_norm_not_causal(o.plug_ins.norm);
  TORCH_CHECK(why_not.empty(), o.model, ": the norm ", why_not);
  embedding_ = register_module("embedding", std::make_shared<nn::AdaptiveEmbedding>(o.vocabulary));
}

void BlockLanguageModel::make_blocks(const std::function<std::shared_ptr<nn::Attention>()>& make_attention) {
  const LanguageBlockOptions& o = made_of_;
  nn::TransformerBlockOptions block;
  block.dim = o.vocabulary.dim;
  block.norm_eps = kNormEps;
  block.norm_place = o.norm_place;
  torch::nn::ModuleList blocks = register_module("blocks", torch::nn::ModuleList());
  for (int64_t i = 0; i < o.depth; ++i) {
    nn::BlockParts parts;
    parts.attention = make_attention();
    parts.feed_forward =
        std::make_shared<nn::FeedForward>(nn::FeedForwardOptions{o.vocabulary.dim, o.mlp_dim, o.dropout, o.activation});
    blocks_.push_back(std::make_shared<nn::TransformerBlock>(block, o.plug_ins, parts));
    blocks->push_back(blocks_.back());
  }
  was_made_with_caches_ = blocks_[0]->has_cache();
}

void BlockLanguageModel::make_output() {
  output_ =
      register_module("output", std::make_shared<nn::AdaptiveSoftmax>(made_of_.vocabulary, made_of_.ties, embedding_));
  for (const auto& module : modules(/*include_self=*/false))
    if (auto* linear = dynamic_cast<nn::Linear*>(module.get())) nn::normal_(linear->weight, kSpread);
}

torch::Tensor BlockLanguageModel::drop(const torch::Tensor& x) const {
  return ops::dropout(x, made_of_.dropout, is_training());
}

torch::Tensor BlockLanguageModel::embed(const torch::Tensor& ids, const LanguageSession& session) const {
  TORCH_CHECK(ids.dim() == 2 && ids.size(1) >= 1 && ids.scalar_type() == at::kLong, made_of_.model,
              ": ids must be int64 (batch rows, L) with L of at least 1, got ", ids.scalar_type(), " ", ids.sizes());
  TORCH_CHECK(session.state && session.state->batch_rows() == ids.size(0), made_of_.model,
              ": ids must have as many batch rows as the session (", session.state ? session.state->batch_rows() : 0,
              "), got ", ids.size(0));
  return embedding_->forward(ids);
}

torch::Tensor BlockLanguageModel::through_blocks(torch::Tensor x, nn::AttentionArgs args,
                                                 const LanguageSession& session) const {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    args.state = &session.state->part(language_block(i));
    x = blocks_[i]->forward(x, args);
  }
  return x;
}

LanguageSession BlockLanguageModel::block_session(int64_t batch_rows, const SegmentOptions& segments,
                                                  nn::SessionUse use) const {
  LanguageSession session{segments, std::make_shared<nn::AttentionState>(batch_rows)};
  for (size_t i = 0; i < blocks_.size(); ++i)
    session.state->set_part(language_block(i), blocks_[i]->make_state(batch_rows, use));
  return session;
}

torch::Tensor BlockLanguageModel::negative_log_likelihood(const torch::Tensor& ids, const torch::Tensor& targets,
                                                          LanguageSession& session) {
  TORCH_CHECK(targets.sizes() == ids.sizes(), made_of_.model, ": targets must have the shape of ids, ", ids.sizes(),
              ", got ", targets.sizes());
  const torch::Tensor hidden = drop(encode(ids, session));
  return output_->negative_log_likelihood(hidden.flatten(0, 1), targets.flatten()).view(ids.sizes());
}

torch::Tensor BlockLanguageModel::next_token(const torch::Tensor& ids, LanguageSession& session) {
  return output_->log_probabilities(drop(encode(ids, session)).select(1, -1));
}

}  // namespace cachet::models
