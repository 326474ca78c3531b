#include "cachet/models/vision/pyramid_stage.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <torch/nn/modules/container/modulelist.h>

#include "cachet/models/vision/position_table.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/spatial_reduction_attention.h"
#include "cachet/nn/base/initialization.h"
#include "cachet/nn/layers/depthwise_feed_forward.h"
#include "cachet/nn/layers/stochastic_depth.h"
#include "cachet/ops/tokens/dropout.h"

namespace cachet::models {
namespace {

constexpr double kPyramidNormEps = 1e-6;  // of blocks, stages and the final norm in both published codes

std::shared_ptr<nn::Attention> make_attention(const PyramidVisionTransformerOptions& model,
                                              const PyramidStageOptions& stage, const nn::TransformerBlockOptions& o) {
  const auto form = model.form == PyramidForm::v2_linear ? nn::ReductionForm::pooling : nn::ReductionForm::convolution;
  const nn::SpatialReductionOptions reduction{form, stage.spatial_reduction, model.plug_ins.norm};
  const auto make = [&](int64_t dim, nn::Branch branch) -> std::shared_ptr<nn::Attention> {
    const nn::MultiHeadOptions heads{dim, o.num_heads, model.plug_ins.attention, nn::Projection::separate};
    if (branch == nn::Branch::memory && model.memory_reduction == MemoryReduction::none)
      return std::make_shared<nn::MultiHeadAttention>(heads);
    return std::make_shared<nn::SpatialReductionAttention>(heads, reduction);
  };
  nn::CachedAttentionOptions cached{o.dim, o.num_heads, o.tokens, o.layout, model.plug_ins.cache};
  nn::set_pool(cached.cache, stage.cache_pool);
  return nn::make_self_attention(cached, make);
}

std::shared_ptr<nn::FeedForward> make_feed_forward(PyramidForm form, const nn::FeedForwardOptions& options) {
  if (form == PyramidForm::v1) return std::make_shared<nn::FeedForward>(options);
  return std::make_shared<nn::DepthwiseFeedForward>(
      options, form == PyramidForm::v2_linear ? nn::BeforeDepthwise::relu : nn::BeforeDepthwise::nothing);
}

}  // namespace

PyramidStage::PyramidStage(const PyramidVisionTransformerOptions& model, const PyramidStageOptions& stage,
                           const PyramidStagePlace& place)
    : Cloneable("PyramidStage"), grid_(place.grid), dropout_(model.dropout) {
  if (place.downsample) downsample_ = register_module("downsample", place.downsample);
  const int64_t class_tokens = place.class_token == ClassToken::present ? 1 : 0;
  if (model.form == PyramidForm::v1) {
    // The published table of the last stage keeps the class token's row in the backbones without that token.
    class_position_ = place.blocks_before + stage.depth == place.blocks_of_model;
    pos_embed_ =
        register_parameter("pos_embed", at::empty({1, grid_.tokens() + (class_position_ ? 1 : 0), stage.embed_dim}));
    nn::truncated_normal_(pos_embed_);
  }
  if (class_tokens > 0) {
    cls_token_ = register_parameter("cls_token", at::empty({1, 1, stage.embed_dim}));
    nn::truncated_normal_(cls_token_);
  }

  torch::nn::ModuleList blocks = register_module("blocks", torch::nn::ModuleList());
  for (int64_t i = 0; i < stage.depth; ++i) {
    nn::TransformerBlockOptions o;
    o.dim = stage.embed_dim;
    o.num_heads = stage.num_heads;
    o.mlp_ratio = stage.mlp_ratio;
    o.dropout = model.dropout;
    o.stochastic_depth =
        nn::stochastic_depth_of(model.stochastic_depth, place.blocks_before + i, place.blocks_of_model);
    o.norm_eps = kPyramidNormEps;
    o.tokens = class_tokens + grid_.tokens();
    o.layout = {grid_, class_tokens, {}};
    nn::BlockParts parts{make_attention(model, stage, o), make_feed_forward(model.form, o.feed_forward())};
    blocks_.push_back(std::make_shared<nn::TransformerBlock>(o, model.plug_ins, std::move(parts)));
    blocks->push_back(blocks_.back());
  }
  if (model.form != PyramidForm::v1)
    norm_ = register_module("norm", nn::make_norm(model.plug_ins.norm, stage.embed_dim, kPyramidNormEps));
}

torch::Tensor PyramidStage::add_positions(const GridTokens& patches, bool with_class_token) const {
  const torch::Tensor& x = patches.tokens;
  if (!pos_embed_.defined()) return x;
  const int64_t rows = class_position_ ? 1 : 0;
  const torch::Tensor table = resize_position_table(pos_embed_, rows, grid_, patches.grid, Resampling::bilinear);
  if (!with_class_token) return x + table.slice(1, rows);
  return at::cat({cls_token_.expand({x.size(0), -1, -1}).to(x.scalar_type()), x}, 1) + table;
}

torch::Tensor PyramidStage::forward(const GridTokens& patches, ClassToken class_token) {
  const bool with = class_token == ClassToken::present && cls_token_.defined();
  torch::Tensor x = ops::dropout(add_positions(patches, with), dropout_, is_training());
  const auto layout = nn::AttentionArgs::self({patches.grid, with ? 1 : 0, {}});
  for (const auto& block : blocks_) x = block->forward(x, layout);
  return norm_ ? norm_->forward(x) : x;
}

}  // namespace cachet::models
