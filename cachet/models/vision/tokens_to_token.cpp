#include "cachet/models/vision/tokens_to_token.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/im2col.h>

#include "cachet/nn/attention/token_performer.h"
#include "cachet/nn/attention/token_transformer.h"

namespace cachet::models {
namespace {

constexpr double kTokenNormEps = 1e-5;

std::shared_ptr<nn::Attention> make_token_attention(const T2tVisionTransformerOptions& o, int64_t dim) {
  if (o.token_attention == TokenAttention::transformer)
    return std::make_shared<nn::TokenTransformer>(nn::TokenTransformerOptions{dim, o.token_dim, {}});
  nn::TokenPerformerOptions performer;
  performer.dim = dim;
  performer.token_dim = o.token_dim;
  performer.dropout = o.token_dropout;
  return std::make_shared<nn::TokenPerformer>(performer);
}

}  // namespace

nn::Grid SoftSplit::grid_of(const nn::Grid& map) const {
  const auto along = [&](int64_t side) { return (side + 2 * border() - size) / stride + 1; };
  return {along(map.height), along(map.width)};
}

GridTokens SoftSplit::of(const torch::Tensor& map) const {
  const torch::Tensor columns =
      at::im2col(map, {size, size}, /*dilation=*/{1, 1}, {border(), border()}, {stride, stride});
  return {columns.transpose(1, 2), grid_of({map.size(2), map.size(3)})};
}

TokenStage::TokenStage(const T2tVisionTransformerOptions& o, int64_t dim) : Cloneable("TokenStage") {
  norm1_ = register_module("norm1", nn::make_norm(o.plug_ins.norm, dim, kTokenNormEps));
  attn_ = register_module("attn", make_token_attention(o, dim));
  norm2_ = register_module("norm2", nn::make_norm(o.plug_ins.norm, o.token_dim, kTokenNormEps));
  mlp_ = register_module("mlp", std::make_shared<nn::FeedForward>(nn::FeedForwardOptions{o.token_dim, o.token_dim}));
}

GridTokens TokenStage::forward(const GridTokens& x) {
  const nn::TokenLayout layout{x.grid, 0, {}};
  const torch::Tensor normed = norm1_->forward(x.tokens);
  const torch::Tensor attended = attn_->forward(normed, normed, nn::AttentionArgs::self(layout));
  return {attended + mlp_->forward(norm2_->forward(attended), layout), x.grid};
}

std::vector<nn::NormFold> TokenStage::norm_folds() {
  return {nn::fold_into_reader(*this, "norm1", norm1_,
                               [&](const nn::Affine& before) { attn_->fold_affine_before(before); }),
          nn::fold_into_reader(*this, "norm2", norm2_,
                               [&](const nn::Affine& before) { mlp_->fold_affine_before(before); })};
}

TokensToToken::TokensToToken(const T2tVisionTransformerOptions& o)
    : Cloneable("TokensToToken"),
      // 7, 3 and 3 wide for the published stride of 4.
      splits_{SoftSplit{2 * o.split_stride - 1, o.split_stride}, SoftSplit{3, 2}, SoftSplit{3, 2}} {
  const int64_t pixels = o.image.channels * splits_[0].size * splits_[0].size, between = 9 * o.token_dim;
  attention1_ = register_module("attention1", std::make_shared<TokenStage>(o, pixels));
  attention2_ = register_module("attention2", std::make_shared<TokenStage>(o, between));
  project_ = register_module("project", std::make_shared<nn::Linear>(between, o.embed_dim));
}

nn::Grid TokensToToken::grid_of(const nn::Grid& image) const {
  nn::Grid grid = image;
  for (const SoftSplit& split : splits_) grid = split.grid_of(grid);
  return grid;
}

GridTokens TokensToToken::forward(const torch::Tensor& images) {
  const auto split = [&](size_t i, const GridTokens& x) { return splits_[i].of(nn::map_of(x.tokens, x.grid)); };
  GridTokens x = attention1_->forward(splits_[0].of(images));
  x = attention2_->forward(split(1, x));
  x = split(2, x);
  return {project_->forward(x.tokens), x.grid};
}

}  // namespace cachet::models
