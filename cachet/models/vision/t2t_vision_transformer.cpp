#include "cachet/models/vision/t2t_vision_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <torch/nn/modules/container/modulelist.h>

#include "cachet/nn/base/initialization.h"
#include "cachet/nn/layers/positions.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::models {
namespace {

constexpr double kT2tNormEps = 1e-5;

}  // namespace

T2tVisionTransformer::T2tVisionTransformer(const T2tVisionTransformerOptions& options) : options_(options) {
  const auto& o = options_;
  tokens_to_token_ = register_module("tokens_to_token", std::make_shared<TokensToToken>(o));
  cls_token_ = register_parameter("cls_token", at::empty({1, 1, o.embed_dim}));
  nn::truncated_normal_(cls_token_);
  const nn::Grid grid = tokens_to_token_->grid_of({o.image.height, o.image.width});
  nn::TransformerBlockOptions block;
  block.dim = o.embed_dim;
  block.num_heads = o.num_heads;
  block.mlp_ratio = o.mlp_ratio;
  block.dropout = o.dropout;
  block.stochastic_depth = o.stochastic_depth;
  block.norm_eps = kT2tNormEps;
  block.tokens = 1 + grid.tokens();
  block.layout = {grid, 1, {}};
  blocks_ = nn::make_transformer_blocks(o.depth, block, o.plug_ins);
  torch::nn::ModuleList blocks = register_module("blocks", torch::nn::ModuleList());
  for (const auto& each : blocks_) blocks->push_back(each);
  norm_ = register_module("norm", nn::make_norm(o.plug_ins.norm, o.embed_dim, kT2tNormEps));
  head_ = register_module("head", std::make_shared<nn::Linear>(o.embed_dim, o.classes));
}

torch::Tensor T2tVisionTransformer::tokens(const torch::Tensor& images) {
  TORCH_CHECK(
      images.dim() == 4 && images.size(1) == options_.image.channels && images.size(2) >= 1 && images.size(3) >= 1,
      "t2t_vision_transformer: images must be (B, ", options_.image.channels, ", H, W), got ", images.sizes());
  const GridTokens patches = tokens_to_token_->forward(images);
  const torch::Tensor first = cls_token_.expand({images.size(0), -1, -1}).to(patches.tokens.scalar_type());
  torch::Tensor x = at::cat({first, patches.tokens}, 1);
  const auto positions = positions_.get(
      [&](const torch::Tensor& kept) {
        return kept.size(1) == x.size(1) && kept.scalar_type() == x.scalar_type() && kept.device() == x.device();
      },
      [&] { return nn::sinusoidal_positions(x.size(1), x.size(2)).to(x.options()); });
  x = x + *positions;
  x = ops::dropout(x, options_.dropout, is_training());
  const auto layout = nn::AttentionArgs::self({patches.grid, 1, {}});
  for (const auto& block : blocks_) x = block->forward(x, layout);
  return norm_->forward(x);
}

torch::Tensor T2tVisionTransformer::forward(const torch::Tensor& images) {
  return head_->forward(tokens(images).select(1, 0));
}

std::vector<nn::NormFold> T2tVisionTransformer::norm_folds() {
  return {
      nn::fold_into_reader(*this, "norm", norm_, [&](const nn::Affine& before) { head_->fold_affine_before(before); })};
}

}  // namespace cachet::models
