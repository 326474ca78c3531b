#include "cachet/models/vision/pyramid_vision_transformer_options.h"

#include <algorithm>
#include <array>
#include <string>

#include "cachet/models/model_keys.h"
#include "cachet/models/vision/feature_pyramid.h"

namespace cachet::models {
namespace {

constexpr std::array<config::Choice<MemoryReduction>, 2> kMemoryReductions{
    {{"as_self", MemoryReduction::as_self}, {"none", MemoryReduction::none}}};

void check_stages(const config::View& table, const PyramidVisionTransformerOptions& o) {
  for (size_t i = 0; i < o.stages.size(); ++i) {
    const auto& stage = o.stages[i];
    check_mlp_ratio(table, "mlp_ratios", stage.mlp_ratio, stage.embed_dim, " of stage " + std::to_string(i + 1));
    if (stage.embed_dim % stage.num_heads != 0)
      table.problem("num_heads", "must divide embed_dim (" + std::to_string(stage.embed_dim) + ") of stage " +
                                     std::to_string(i + 1) + ", got " + std::to_string(stage.num_heads));
    else
      check_plug_ins(table, o.plug_ins, stage.embed_dim, stage.num_heads, " of stage " + std::to_string(i + 1));
  }
}

/// Parts of `size` that cover a length.
int64_t parts(int64_t length, int64_t size) { return (length + size - 1) / size; }

// Multiples are for the first generation only: the second's overlapping patches reach beyond the border.
void check_size(const config::View& table, const PyramidVisionTransformerOptions& o) {
  const int64_t step = o.patch_size << (o.stages.size() - 1);
  const std::string size = std::to_string(o.image.height) + " x " + std::to_string(o.image.width);
  if (o.form == PyramidForm::v1 && (o.image.height % step != 0 || o.image.width % step != 0)) {
    table.problem("image_size",
                  "height and width must be multiples of " + std::to_string(step) +
                      " (patch_size, doubled for each later stage), got " + size +
                      (table.has("image_size") ? ""
                                               : "; this size comes from data.resize.image_size, or for a detector "
                                                 "from data.transform.pad_multiple"));
    return;
  }
  if (o.form == PyramidForm::v2_linear) return;  // which pools any grid
  const std::vector<int64_t> strides = halving_strides(o.patch_size, o.stages.size());
  for (size_t i = 0; i < o.stages.size(); ++i) {
    const int64_t least = o.stages[i].spatial_reduction, side = std::min(o.image.height, o.image.width);
    if (parts(side, strides[i]) >= least) continue;
    table.problem("image_size", size + " is too small: stage " + std::to_string(i + 1) + " reduces " +
                                    std::to_string(least) +
                                    " tokens on each side to one token, so the stage needs at least " +
                                    std::to_string((least - 1) * strides[i] + 1) + " pixels a side");
    return;
  }
}

// Memory attention can only reduce a grid, which a cache of a given length does not have.
void check_memory(const config::View& table, const PyramidVisionTransformerOptions& o) {
  const std::optional<nn::CachedLayerOptions> cache = nn::cached_layer_options(o.plug_ins.cache);
  if (cache && cache->length && o.memory_reduction == MemoryReduction::as_self)
    table.table("cache").problem("length", "gives a cache without a grid, but spatial reduction needs a grid; set " +
                                               std::string("memory_reduction = \"none\", or use cache_pools"));
}

// What is pooled is reduced once more where memory attention reduces as the tokens' own does.
void check_pools(const config::View& table, const PyramidVisionTransformerOptions& o) {
  const std::optional<nn::CachedLayerOptions> cache = nn::cached_layer_options(o.plug_ins.cache);
  if (!cache || !cache->pool || cache->length) return;
  const bool reduces = o.memory_reduction == MemoryReduction::as_self;
  if (reduces && o.form == PyramidForm::v2_linear) return;  // which makes any grid 7 x 7
  const std::vector<int64_t> strides = halving_strides(o.patch_size, o.stages.size());
  for (size_t i = 0; i < o.stages.size(); ++i) {
    const auto& stage = o.stages[i];
    const bool has_own = stage.cache_pool > 1;  // which counts instead of that of all caches
    const int64_t pool = has_own ? stage.cache_pool : *cache->pool, reduction = reduces ? stage.spatial_reduction : 1;
    const nn::Grid grid{parts(o.image.height, strides[i]), parts(o.image.width, strides[i])};
    const nn::Grid pooled{parts(grid.height, pool), parts(grid.width, pool)};
    const auto side = [](const nn::Grid& of) { return std::min(of.height, of.width); };
    if (side(grid) < reduction) continue;
    const config::View where = has_own ? table : table.table("cache");
    const std::string_view key = has_own ? "cache_pools" : "pool";
    if (side(pooled) < reduction) {
      where.problem(
          key, "leaves the cache of stage " + std::to_string(i + 1) + " with " + std::to_string(side(pooled)) +
                   " slots a side, but its memory attention reduces " + std::to_string(reduction) +
                   " slots a side to one; choose smaller pools, larger images, or " + "memory_reduction = \"none\"");
      return;
    }
    // In the last stage of the first generation, the class token of a classifier is one more key.
    const bool class_token = o.form == PyramidForm::v1 && i + 1 == o.stages.size();
    if (pool > 1 && !class_token && pooled.height / reduction == 1 && pooled.width / reduction == 1)
      note_single_key(where, key, i + 1, pool, reduction);
  }
}

}  // namespace

PyramidVisionTransformerOptions read_pyramid_vision_transformer_options(const config::View& table,
                                                                        PyramidVisionTransformerOptions o) {
  using Stage = PyramidStageOptions;
  read_image_shape(table, o.image);
  read_dropout(table, o.dropout, o.stochastic_depth);
  o.patch_size = table.integer("patch_size", o.patch_size, {1, 1 << 10});
  read_per_stage(table, "embed_dims", o.stages, &Stage::embed_dim, {1, 1 << 16});
  read_per_stage(table, "depths", o.stages, &Stage::depth, {1, 1000});
  read_per_stage(table, "num_heads", o.stages, &Stage::num_heads, {1, 1024});
  read_per_stage(table, "mlp_ratios", o.stages, &Stage::mlp_ratio, {0.01, 64.0});
  if (o.form != PyramidForm::v2_linear)
    read_per_stage(table, "spatial_reductions", o.stages, &Stage::spatial_reduction, {1, 64});
  read_per_stage(table, "cache_pools", o.stages, &Stage::cache_pool, {1, 64});
  o.memory_reduction = table.choice("memory_reduction", o.memory_reduction, kMemoryReductions);
  o.plug_ins = nn::read_plug_ins(table);
  check_stages(table, o);
  check_memory(table, o);
  check_stage_pools(table, o.plug_ins.cache,
                    std::ranges::any_of(o.stages, [](const Stage& stage) { return stage.cache_pool > 1; }));
  check_pools(table, o);
  check_size(table, o);
  return o;
}

}  // namespace cachet::models
