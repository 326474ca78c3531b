#include "cachet/models/vision/swin_stage.h"

#include <torch/nn/modules/container/modulelist.h>

#include <algorithm>

#include "cachet/nn/attention/window_attention.h"
#include "cachet/nn/layers/stochastic_depth.h"

namespace cachet::models {
namespace {

constexpr double kSwinNormEps = 1e-5;

nn::WindowSettings windows_of(const SwinTransformerOptions& model, const nn::Grid& grid, bool shifted) {
  const int64_t side = model.window_size, shift = shifted ? side / 2 : 0;
  if (model.window_fit == WindowFit::pad) return {{side, side}, {shift, shift}, nn::WindowOrder::pad_then_shift};
  const auto fitted = [&](int64_t map) { return std::min(map, side); };
  const auto moved = [&](int64_t map) { return map <= side ? 0 : shift; };
  return {{fitted(grid.height), fitted(grid.width)},
          {moved(grid.height), moved(grid.width)},
          nn::WindowOrder::shift_then_pad};
}

}  // namespace

SwinStage::SwinStage(const SwinTransformerOptions& model, const SwinStagePlace& place) : Cloneable("SwinStage") {
  const int64_t dim = model.stage_dim(place.stage);
  const SwinStageOptions& stage = model.stages[place.stage];
  if (place.stage > 0)
    downsample_ = register_module("downsample", std::make_shared<PatchMerging>(dim / 2, model.plug_ins.norm));
  nn::CacheOptions cache = model.plug_ins.cache;
  nn::set_pool(cache, stage.cache_pool);
  torch::nn::ModuleList blocks = register_module("blocks", torch::nn::ModuleList());
  for (int64_t i = 0; i < stage.depth; ++i) {
    nn::TransformerBlockOptions o;
    o.dim = dim;
    o.num_heads = stage.num_heads;
    o.mlp_ratio = model.mlp_ratio;
    o.dropout = model.dropout;
    o.stochastic_depth =
        nn::stochastic_depth_of(model.stochastic_depth, place.blocks_before + i, place.blocks_of_model);
    o.norm_eps = kSwinNormEps;
    nn::BlockParts parts{nn::make_window_attention({dim, stage.num_heads, model.plug_ins.attention, cache,
                                                    windows_of(model, place.grid, i % 2 == 1)}),
                         std::make_shared<nn::FeedForward>(o.feed_forward())};
    blocks_.push_back(std::make_shared<nn::TransformerBlock>(o, model.plug_ins, std::move(parts)));
    blocks->push_back(blocks_.back());
  }
}

GridTokens SwinStage::forward(GridTokens x) {
  if (downsample_) x = downsample_->forward(x);
  const auto layout = nn::AttentionArgs::self({x.grid, 0, {}});
  for (const auto& block : blocks_) x.tokens = block->forward(x.tokens, layout);
  return x;
}

}  // namespace cachet::models
