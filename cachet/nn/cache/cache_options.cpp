#include "cachet/nn/cache/cache_options.h"

#include <cmath>
#include <type_traits>
#include <utility>

namespace cachet::nn {
namespace {

KindTable<CacheOptions, Sessions>& cache_table() {
  static KindTable<CacheOptions, Sessions> table;
  return table;
}

}  // namespace

std::span<const CacheRow* const> cache_kinds() { return cache_table().rows(); }

void register_cache(CacheRow row) { cache_table().add("cache", std::move(row)); }

CacheOptions read_cache_options(const config::View& table, Sessions sessions) {
  return cache_table().read(table, sessions);
}

ChosenCache chosen_cache(const CacheOptions& options) {
  return std::visit(
      []<class Options>(const Options& o) -> ChosenCache {
        if constexpr (std::is_same_v<Options, ChosenCache>)
          return o;
        else
          return chosen_cache(Options::kKind, o);
      },
      options);
}

std::optional<CachedLayerOptions> cached_layer_options(const CacheOptions& options) {
  return chosen_cache(options).layer;
}

CacheOptions with_layer(const CacheOptions& options, const CachedLayerOptions& layer) {
  return std::visit(
      [&]<class Options>(Options o) -> CacheOptions {
        if constexpr (OfCachedLayer<Options>) return with_layer(std::move(o), layer);
        if constexpr (std::is_same_v<Options, ChosenCache>) o.layer = layer;
        return o;
      },
      options);
}

void set_pool(CacheOptions& options, int64_t side) {
  auto layer = cached_layer_options(options);
  if (side <= 1 || !layer || !layer->pool) return;
  layer->pool = side;
  options = with_layer(options, *layer);
}

std::shared_ptr<Cache> make_cache(const CacheOptions& options, int64_t dim, int64_t tokens, const TokenLayout& layout) {
  const ChosenCache chosen = chosen_cache(options);
  if (!chosen.layer) return nullptr;
  const CachedLayerOptions& layer = *chosen.layer;
  TORCH_CHECK(!layer.length || *layer.length >= 1, "cache: length must be at least 1, got ", *layer.length);
  TORCH_CHECK(layer.length || tokens >= 1, "cache: length must be set, because the number of tokens of the model is ",
              tokens);
  TORCH_CHECK(std::isfinite(layer.share_start), "cache: share_start must be a number, got ", layer.share_start);
  return chosen.make(layer, dim, tokens, layout);
}

}  // namespace cachet::nn
