#include "cachet/models/vision/vision_transformer_options.h"

#include <array>
#include <string>

#include "cachet/nn/cache/cache_options.h"

namespace cachet::models {
namespace {

constexpr std::array<config::Choice<Pooling>, 2> kPoolings{{{"token", Pooling::token}, {"mean", Pooling::mean}}};
constexpr int64_t kMostPixels = 1 << 14;

void read_image_shape(const config::View& table, ImageShape& image) {
  image.channels = table.integer("channels", image.channels, {1, 1024});
  const std::vector<int64_t> size = table.integers("image_size", {image.height, image.width}, {1, kMostPixels});
  if (size.empty() || size.size() > 2) {
    table.problem("image_size", "takes one number or two: [height, width]");
    return;
  }
  image.height = size.front();
  image.width = size.back();
}

std::string number(int64_t n) { return std::to_string(n); }

void check_cache(const config::View& table, const VisionTransformerOptions& o, const nn::CachedLayerOptions& cache) {
  const int64_t width = nn::cache_dim(cache, o.embed_dim);
  const config::View cache_table = table.table("cache");
  if (width == 0 || width % o.num_heads != 0)
    cache_table.problem("ratio", "gives a memory of " + number(width) + " channels (ratio of embed_dim " +
                                     number(o.embed_dim) + "), which " + number(o.num_heads) + " heads do not divide");
  else if (cache.positional_convolution && o.embed_dim % width != 0)
    cache_table.problem("ratio", "gives a memory of " + number(width) + " channels, which must divide embed_dim " +
                                     number(o.embed_dim) + " for the positional convolution; choose 1/n, or " +
                                     "positional_convolution = false");
}

void check_combination(const config::View& table, const VisionTransformerOptions& o) {
  if (o.embed_dim % o.num_heads != 0)
    table.problem("num_heads", number(o.num_heads) + " heads do not divide embed_dim " + number(o.embed_dim));
  if (o.image.height % o.patch_size != 0 || o.image.width % o.patch_size != 0)
    table.problem("patch_size", number(o.patch_size) + " does not divide the image of " + number(o.image.height) +
                                    " x " + number(o.image.width));
  if (o.pooling == Pooling::token && !o.class_token)
    table.problem("pooling", "'token' needs class_token = true; use 'mean' without one");
  if (o.distilled && (!o.class_token || o.pooling == Pooling::mean))
    table.problem("distilled", "needs a class token and pooling = \"token\"");
  if (const auto* grc = std::get_if<nn::GatedRecurrentCacheOptions>(&o.plug_ins.cache)) check_cache(table, o, *grc);
  if (const auto* fifo = std::get_if<nn::FifoCacheOptions>(&o.plug_ins.cache)) check_cache(table, o, *fifo);
}

}  // namespace

VisionTransformerOptions read_vision_transformer_options(const config::View& table, VisionTransformerOptions o) {
  read_image_shape(table, o.image);
  o.patch_size = table.integer("patch_size", o.patch_size, {1, kMostPixels});
  o.classes = table.integer("classes", o.classes, {1, 1'000'000});
  o.embed_dim = table.integer("embed_dim", o.embed_dim, {1, 1 << 16});
  o.depth = table.integer("depth", o.depth, {1, 1000});
  o.num_heads = table.integer("num_heads", o.num_heads, {1, 1024});
  o.mlp_ratio = table.real("mlp_ratio", o.mlp_ratio, {0.01, 64.0});
  o.class_token = table.boolean("class_token", o.class_token);
  o.distilled = table.boolean("distilled", o.distilled);
  o.pooling = table.choice("pooling", o.pooling, kPoolings);
  o.dropout = table.real("dropout", o.dropout, {0.0, 0.99});
  o.stochastic_depth = table.real("stochastic_depth", o.stochastic_depth, {0.0, 0.99});
  o.position_std = table.real("position_std", o.position_std, {0.0, 10.0, /*least_excluded=*/true});
  o.plug_ins = nn::read_plug_ins(table);
  check_combination(table, o);
  return o;
}

}  // namespace cachet::models
