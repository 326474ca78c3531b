#include "cachet/models/vision/swin_transformer_options.h"

#include <algorithm>
#include <array>
#include <string>

#include "cachet/models/model_keys.h"
#include "cachet/models/vision/feature_pyramid.h"

namespace cachet::models {
namespace {

constexpr std::array<config::Choice<WindowFit>, 2> kWindowFits{
    {{"shrink", WindowFit::shrink}, {"pad", WindowFit::pad}}};

void check_swin(const config::View& table, const SwinTransformerOptions& o) {
  if (!nn::chosen_attention_function(o.plug_ins.attention.function).traits.takes_bias)
    table.table("attention")
        .problem("kind",
                 "must be 'softmax': Swin adds a bias to the attention scores of a window, and only softmax attention "
                 "computes these scores");
  for (size_t i = 0; i < o.stages.size(); ++i) {
    const int64_t dim = o.stage_dim(i), heads = o.stages[i].num_heads;
    const std::string where = " of stage " + std::to_string(i + 1);
    check_mlp_ratio(table, "mlp_ratio", o.mlp_ratio, dim, where);
    if (dim % heads != 0)
      table.problem("num_heads",
                    "must divide the " + std::to_string(dim) + " channels" + where + ", got " + std::to_string(heads));
    else
      check_plug_ins(table, o.plug_ins, dim, heads, where);
  }
}

// A cache remembers a window, which is no larger than the map of its stage unless windows are padded.
void note_pools(const config::View& table, const SwinTransformerOptions& o) {
  const std::optional<nn::CachedLayerOptions> cache = nn::cached_layer_options(o.plug_ins.cache);
  if (!cache || !cache->pool || cache->length) return;
  const std::vector<int64_t> strides = halving_strides(o.patch_size, o.stages.size());
  const int64_t longest = std::max(o.image.height, o.image.width);
  for (size_t i = 0; i < o.stages.size(); ++i) {
    const int64_t map = (longest + strides[i] - 1) / strides[i];
    const int64_t window = o.window_fit == WindowFit::pad ? o.window_size : std::min(o.window_size, map);
    const bool has_own = o.stages[i].cache_pool > 1;
    const int64_t pool = has_own ? o.stages[i].cache_pool : *cache->pool;
    if (pool > 1 && pool >= window)
      note_single_key(has_own ? table : table.table("cache"), has_own ? "cache_pools" : "pool", i + 1, pool, 1);
  }
}

}  // namespace

SwinTransformerOptions read_swin_transformer_options(const config::View& table, SwinTransformerOptions o) {
  using Stage = SwinStageOptions;
  read_image_shape(table, o.image);
  read_dropout(table, o.dropout, o.stochastic_depth);
  o.patch_size = table.integer("patch_size", o.patch_size, {1, 1 << 10});
  o.embed_dim = table.integer("embed_dim", o.embed_dim, {1, 1 << 16});
  read_per_stage(table, "depths", o.stages, &Stage::depth, {1, 1000});
  read_per_stage(table, "num_heads", o.stages, &Stage::num_heads, {1, 1024});
  o.window_size = table.integer("window_size", o.window_size, {1, 256});
  o.window_fit = table.choice("window_fit", o.window_fit, kWindowFits);
  o.mlp_ratio = table.real("mlp_ratio", o.mlp_ratio, {0.01, 64.0});
  read_per_stage(table, "cache_pools", o.stages, &Stage::cache_pool, {1, 64});
  o.plug_ins = nn::read_plug_ins(table);
  check_swin(table, o);
  check_stage_pools(table, o.plug_ins.cache,
                    std::ranges::any_of(o.stages, [](const Stage& stage) { return stage.cache_pool > 1; }));
  note_pools(table, o);
  return o;
}

}  // namespace cachet::models
