#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cachet/config/view.h"
#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cached_layer_options.h"
#include "cachet/nn/layout.h"
#include "cachet/nn/plug_in.h"

namespace cachet::nn {

/// The record of a kind of cache: all facts that the library looks up by the kind's name. The record is the static
/// member kKind of the kind's options, in the header that declares the cache.
template <class Options>
struct CacheKind {
  std::string_view name;                                          // name in recipes
  Options (*read)(const config::View& table, Sessions sessions);  // reads the kind's own keys of a `cache` table
  /// Makes a cache for a layer of `dim` channels. `tokens` and `layout`: number and layout of the model's tokens at the
  /// model's own input size. For caches without memory attention, the pointer `make` is null. For caches with memory
  /// attention, Options must satisfy the concept OfCachedLayer.
  std::shared_ptr<Cache> (*make)(const Options& options, int64_t dim, int64_t tokens,
                                 const TokenLayout& layout) = nullptr;
  Export exports = Export::refused;
};

/// A registered kind of cache together with chosen options. In the variant CacheOptions, ChosenCache is the type for
/// all kinds that a program registers.
struct ChosenCache {
  std::string kind;
  std::optional<CachedLayerOptions> layer;  // empty for kinds without memory attention
  std::function<std::shared_ptr<Cache>(const CachedLayerOptions& layer, int64_t dim, int64_t tokens,
                                       const TokenLayout& layout)>
      make;  // empty for kinds without memory attention
};

template <class Options>
ChosenCache chosen_cache(const CacheKind<Options>& kind, const Options& options) {
  ChosenCache chosen{std::string(kind.name), {}, {}};
  if constexpr (OfCachedLayer<Options>) {
    chosen.layer = layer_of(options);
    chosen.make = [kind, options](const CachedLayerOptions& layer, int64_t dim, int64_t tokens,
                                  const TokenLayout& layout) {
      return marked(kind.make(with_layer(options, layer), dim, tokens, layout), kind.exports, "cache", kind.name);
    };
  }
  return chosen;
}

}  // namespace cachet::nn
