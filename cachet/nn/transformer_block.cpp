#include "cachet/nn/transformer_block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/base/option_checks.h"
#include "cachet/nn/layers/stochastic_depth.h"

namespace cachet::nn {

PlugIns read_plug_ins(const config::View& table, const AttentionOptions& attention, Sessions sessions) {
  PlugIns plug_ins{read_attention_options(table.table("attention"), attention),
                   read_cache_options(table.table("cache"), sessions), read_norm_options(table.table("norm")),
                   read_outlier_options(table.table("outliers"))};
  if (is_concatenated(plug_ins.cache) && !std::holds_alternative<SoftmaxOptions>(plug_ins.attention.function))
    table.table("cache").problem("kind", kConcatenatedIsForImages);
  return plug_ins;
}

FeedForwardOptions TransformerBlockOptions::feed_forward() const {
  TORCH_CHECK(std::isfinite(mlp_ratio) && mlp_ratio > 0, "transformer_block: mlp_ratio must be above 0, got ",
              mlp_ratio);
  return {dim, static_cast<int64_t>(static_cast<double>(dim) * mlp_ratio), dropout, activation};
}

namespace {

std::shared_ptr<Attention> make_cross_attention(const TransformerBlockOptions& o, const AttentionOptions& attention) {
  if (!o.cross_attention) return nullptr;
  MultiHeadOptions options{o.dim, o.num_heads, attention, Projection::separate};
  options.context_dim = o.cross_attention->context_dim;
  return std::make_shared<MultiHeadAttention>(options);
}

}  // namespace

TransformerBlock::TransformerBlock(const TransformerBlockOptions& o, const PlugIns& plug_ins)
    : TransformerBlock(
          o, plug_ins,
          BlockParts{make_self_attention({o.dim, o.num_heads, o.tokens, o.layout, plug_ins.cache}, plug_ins.attention),
                     std::make_shared<FeedForward>(o.feed_forward()), make_cross_attention(o, plug_ins.attention)}) {}

TransformerBlock::TransformerBlock(const TransformerBlockOptions& o, const PlugIns& plug_ins, BlockParts parts)
    : Cloneable("TransformerBlock"),
      norm_place_(o.norm_place),
      dim_(o.dim),
      stochastic_depth_(o.stochastic_depth),
      outliers_(plug_ins.outliers) {
  const NormOptions& norm = plug_ins.norm;
  check_dropout("transformer_block: stochastic_depth", o.stochastic_depth);
  norm1_ = register_module("norm1", make_norm(norm, o.dim, o.norm_eps));
  attn_ = register_module("attn", std::move(parts.attention));
  if (parts.cross_attention) {
    cross_norm_ = register_module("cross_norm", make_norm(norm, o.dim, o.norm_eps));
    cross_attn_ = register_module("cross_attn", std::move(parts.cross_attention));
  }
  norm2_ = register_module("norm2", make_norm(norm, o.dim, o.norm_eps));
  mlp_ = register_module("mlp", std::move(parts.feed_forward));
}

// context: x, or what ends with it.
torch::Tensor TransformerBlock::add_branch(const torch::Tensor& x, const torch::Tensor& context, Norm& norm,
                                           const torch::Tensor& padding, BranchSignals signals,
                                           const Branch& branch) const {
  const auto told = [&](Signal signal, const torch::Tensor& y) {
    notify(signal, y);
    return y;
  };
  const auto added = [&](const torch::Tensor& tokens, const torch::Tensor& visible) {
    return x + nn::stochastic_depth(told(signals.output, branch(tokens, visible)), stochastic_depth_, is_training());
  };
  if (norm_place_ == NormPlace::after) return told(signals.norm, norm.forward(added(x, context), padding));
  const torch::Tensor normed = norm.forward(context, padding);
  if (context.is_same(x)) return added(told(signals.norm, normed), normed);
  return added(told(signals.norm, normed.narrow(1, context.size(1) - x.size(1), x.size(1))), normed);
}

torch::Tensor TransformerBlock::forward(const torch::Tensor& tokens, const AttentionArgs& args,
                                        const EncoderTokens& encoder) {
  const torch::Tensor x = is_training() ? with_outliers(tokens, 2, outliers_) : tokens;
  const auto state = [&](const char* part) { return args.state ? &args.state->part(part) : nullptr; };
  const torch::Tensor& padding = args.query.padding;
  if (padding.defined()) notify(Signal::token_padding, padding);
  torch::Tensor context = x;
  if (args.state && args.state->declares("memory")) {
    TORCH_CHECK(!padding.defined(), "transformer_block: a session with a memory cannot have padding");
    context = args.state->append("memory", x);
    args.state->detach("memory");
  }
  torch::Tensor y = add_branch(x, context, *norm1_, padding, {Signal::norm1_output, Signal::attention_output},
                               [&](const torch::Tensor& tokens, const torch::Tensor& visible) {
                                 AttentionArgs own = args;
                                 own.state = state("attn");
                                 return attn_->forward(tokens, visible, own);
                               });
  if (cross_attn_) {
    AttentionArgs cross{args.query, encoder.layout, {}, false, state("cross_attn")};
    TORCH_CHECK(encoder.tokens.defined() || cross.state,
                "transformer_block: has cross attention, so the call must pass the encoder's tokens");
    y = add_branch(y, y, *cross_norm_, padding, {Signal::cross_norm_output, Signal::cross_attention_output},
                   [&](const torch::Tensor& tokens, const torch::Tensor&) {
                     return cross_attn_->forward(tokens, encoder.tokens, cross);
                   });
  } else {
    TORCH_CHECK(!encoder.tokens.defined(),
                "transformer_block: was made without cross attention, so the call must not pass an encoder's tokens");
  }
  y = add_branch(y, y, *norm2_, padding, {Signal::norm2_output, Signal::feed_forward_output},
                 [&](const torch::Tensor& tokens, const torch::Tensor&) { return mlp_->forward(tokens, args.query); });
  notify(Signal::block_output, y);
  return y;
}

std::shared_ptr<AttentionState> TransformerBlock::make_state(int64_t batch, SessionUse use) const {
  auto state = std::make_shared<AttentionState>(batch);
  const bool remembers = use == SessionUse::memory;
  if (remembers)
    state->declare_growing("memory",
                           at::zeros({batch, 0, dim_}, attn_->parameters().at(0).options().requires_grad(false)), 1);
  state->set_part("attn", attn_->make_state(batch, remembers ? SessionUse::segments : use));
  if (cross_attn_)
    state->set_part("cross_attn",
                    cross_attn_->make_state(batch, use == SessionUse::decoding ? SessionUse::fixed_context : use));
  return state;
}

std::vector<NormFold> TransformerBlock::norm_folds() {
  const auto fold = [&](const char* name, std::shared_ptr<Norm>& norm, const FoldAffine& fold_affine) {
    if (norm_place_ == NormPlace::before) return fold_into_reader(*this, name, norm, fold_affine);
    return leave_norm(
        *this, name, norm,
        "transformer_block: the output of the norm is also used by the residual connection around the next branch");
  };
  std::vector<NormFold> folded{fold("norm1", norm1_, [&](const Affine& before) { attn_->fold_affine_before(before); })};
  if (cross_attn_)
    folded.push_back(
        fold("cross_norm", cross_norm_, [&](const Affine& before) { cross_attn_->fold_affine_into_query(before); }));
  folded.push_back(fold("norm2", norm2_, [&](const Affine& before) { mlp_->fold_affine_before(before); }));
  return folded;
}

bool TransformerBlock::has_cache() const { return attn_->has_cache(); }

void TransformerBlock::freeze_cache() { attn_ = replace_module("attn", attn_->freeze_cache()); }

std::vector<Submodule<TransformerBlock>> make_transformer_blocks(int64_t depth, const TransformerBlockOptions& options,
                                                                 const PlugIns& plug_ins) {
  std::vector<Submodule<TransformerBlock>> blocks;
  for (int64_t i = 0; i < depth; ++i) {
    TransformerBlockOptions block = options;
    block.stochastic_depth = stochastic_depth_of(options.stochastic_depth, i, depth);
    blocks.push_back(std::make_shared<TransformerBlock>(block, plug_ins));
  }
  return blocks;
}

}  // namespace cachet::nn
