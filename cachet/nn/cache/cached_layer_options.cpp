#include "cachet/nn/cache/cached_layer_options.h"

#include <c10/util/Exception.h>

#include <array>

namespace cachet::nn {
namespace {

constexpr int64_t kMaxReadCacheLength = 1'000'000;  // version 0.1.0 trained with as many slots
constexpr std::array<config::Choice<CacheScope>, 2> kScopes{
    {{"batch_mean", CacheScope::batch_mean}, {"lane", CacheScope::batch_row}}};

}  // namespace

CachedLayerOptions read_cached_layer(const config::View& table, CachedLayerOptions layer) {
  layer.ratio = table.real("ratio", layer.ratio, {0.0, 1.0, /*least_excluded=*/true});
  if (table.has("length")) layer.length = table.integer("length", 64, {1, kMaxReadCacheLength});
  layer.share_start = table.real("share_start", layer.share_start, {-20.0, 20.0});
  layer.positional_convolution = table.boolean("positional_convolution", layer.positional_convolution);
  return layer;
}

CacheScope read_cache_scope(const config::View& table, CacheScope scope, Sessions sessions) {
  scope = table.choice("scope", scope, kScopes);
  if (scope == CacheScope::batch_row && sessions == Sessions::none)
    table.problem("scope", "'lane' is only for models that read texts in segments; use 'batch_mean'");
  return scope;
}

int64_t cache_dim(double ratio, int64_t dim) {
  TORCH_CHECK(ratio > 0 && ratio <= 1, "cache: ratio must be above 0 and at most 1, got ", ratio);
  return static_cast<int64_t>(static_cast<double>(dim) * ratio);
}

}  // namespace cachet::nn
