#include "cachet/models/language/long_range_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/modules/container/modulelist.h>

#include <algorithm>

#include "cachet/nn/base/initialization.h"
#include "cachet/nn/layers/linear.h"
#include "cachet/nn/layers/positions.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::models {
namespace {

constexpr double kLongRangeNormEps = 1e-6;  // of the arena's norms
constexpr double kLearnedPositionSpread = 0.02;

// Widths from what is pooled to the classes; each hidden layer after the first is half as wide as the one before.
std::vector<int64_t> head_widths(const LongRangeOptions& o) {
  const int64_t features = !o.sequence.pairs ? 1 : o.pair_features == PairFeatures::joined ? 2 : 4;
  std::vector<int64_t> widths{features * o.embed_dim};
  for (int64_t layer = 1; layer < o.head_layers; ++layer)
    widths.push_back(std::max<int64_t>(1, o.mlp_dim >> (layer - 1)));
  widths.push_back(o.classes);
  return widths;
}

}  // namespace

LongRangeTransformer::LongRangeTransformer(const LongRangeOptions& options) : options_(options) {
  const auto& o = options_;
  const int64_t tokens = o.sequence.max_length + o.class_tokens();
  const auto embedding = register_module("token_embed", std::make_shared<nn::ModuleGroup>("TokenEmbedding"));
  token_embed_ = embedding->register_parameter("weight", at::empty({o.sequence.vocabulary, o.embed_dim}));
  if (o.class_tokens() > 0) cls_token_ = register_parameter("cls_token", at::zeros({1, 1, o.embed_dim}));
  if (o.positions == Positions::learned)
    pos_embed_ = register_parameter("pos_embed", at::empty({1, tokens, o.embed_dim}));

  nn::TransformerBlockOptions block;
  block.dim = o.embed_dim;
  block.num_heads = o.num_heads;
  // Half a channel more, which the block cuts off: the quotient alone may fall short of mlp_dim by a rounding.
  block.mlp_ratio = (static_cast<double>(o.mlp_dim) + 0.5) / static_cast<double>(o.embed_dim);
  block.dropout = o.dropout;
  block.stochastic_depth = o.stochastic_depth;
  block.norm_eps = kLongRangeNormEps;
  block.tokens = tokens;
  block.layout = {std::nullopt, o.class_tokens(), {}};
  blocks_ = nn::make_transformer_blocks(o.depth, block, o.plug_ins);
  torch::nn::ModuleList blocks = register_module("blocks", torch::nn::ModuleList());
  for (const auto& each : blocks_) blocks->push_back(each);
  norm_ = register_module("norm", nn::make_norm(o.plug_ins.norm, o.embed_dim, kLongRangeNormEps));
  head_ = register_module("head", std::make_shared<ClassificationHead>(head_widths(o)));

  nn::normal_(token_embed_, 1.0);
  if (pos_embed_.defined()) nn::normal_(pos_embed_, kLearnedPositionSpread);
  for (const auto& module : modules(/*include_self=*/false))
    if (auto* linear = dynamic_cast<nn::Linear*>(module.get())) nn::xavier_uniform_(linear->weight);
}

std::vector<nn::NormFold> LongRangeTransformer::norm_folds() {
  const bool pairs = options_.sequence.pairs;
  if (pairs && options_.pair_features != PairFeatures::joined)
    return {nn::leave_norm(*this, "norm", norm_, "the head reads products of the outputs for two sequences")};
  return {nn::fold_into_reader(*this, "norm", norm_, [this, pairs](const nn::Affine& before) {
    head_->fold_affine_before(
        pairs ? nn::Affine{at::cat({before.scale, before.scale}), at::cat({before.shift, before.shift})} : before);
  })};
}

torch::Tensor LongRangeTransformer::embed(const torch::Tensor& ids) {
  torch::Tensor x = at::embedding(token_embed_, ids);
  if (cls_token_.defined()) x = at::cat({cls_token_.expand({ids.size(0), -1, -1}), x}, 1);
  torch::Tensor table = pos_embed_;
  if (!table.defined())
    table = *sinusoids_.get(
        [&](const torch::Tensor& kept) { return kept.scalar_type() == x.scalar_type() && kept.device() == x.device(); },
        [&] {
          const int64_t tokens = options_.sequence.max_length + options_.class_tokens();
          return nn::sinusoidal_positions(tokens, options_.embed_dim).to(x.options().requires_grad(false));
        });
  return ops::dropout(x + table.narrow(1, 0, x.size(1)), options_.dropout, is_training());
}

torch::Tensor LongRangeTransformer::pool(const torch::Tensor& x, const torch::Tensor& padding) const {
  if (options_.pooling != SequencePooling::mean) return x.select(1, 0);
  if (!padding.defined()) return x.mean(1);
  const torch::Tensor kept = padding.bitwise_not().unsqueeze(2);
  return (x * kept).sum(1) / kept.sum(1).clamp_min(1);
}

torch::Tensor LongRangeTransformer::encode(const Sequences& sequences) {
  const torch::Tensor& ids = sequences.ids;
  TORCH_CHECK(ids.dim() == 2 && ids.size(1) >= 1 && ids.size(1) <= options_.sequence.max_length,
              "long_range_transformer: ids must be (B, L) with L from 1 to ", options_.sequence.max_length, ", got ",
              ids.sizes());
  torch::Tensor padding = sequences.padding;
  if (padding.defined() && cls_token_.defined())
    padding = at::cat({at::zeros({ids.size(0), 1}, padding.options()), padding}, 1);
  const int64_t class_tokens = options_.class_tokens();
  const auto layout =
      nn::AttentionArgs::self({std::nullopt, class_tokens, padding, options_.sequence.max_length + class_tokens});
  torch::Tensor x = embed(ids);
  for (const auto& block : blocks_) x = block->forward(x, layout);
  return pool(norm_->forward(x, padding), padding);
}

torch::Tensor LongRangeTransformer::forward(const Sequences& first, const Sequences& second) {
  TORCH_CHECK(second.ids.defined() == options_.sequence.pairs, "long_range_transformer: the model needs ",
              options_.sequence.pairs ? "pairs of sequences" : "single sequences");
  const torch::Tensor u = encode(first);
  if (!options_.sequence.pairs) return head_->forward(u);
  const torch::Tensor v = encode(second);
  return head_->forward(options_.pair_features == PairFeatures::joined ? at::cat({u, v}, 1)
                                                                       : at::cat({u, v, u * v, u - v}, 1));
}

}  // namespace cachet::models
