#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "cachet/config/view.h"
#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_kind.h"
#include "cachet/nn/cache/concatenated_cache.h"
#include "cachet/nn/cache/fifo_cache.h"
#include "cachet/nn/cache/gated_recurrent_cache.h"
#include "cachet/nn/cache/no_cache.h"
#include "cachet/nn/kind_table.h"

namespace cachet::nn {

/// The options of a cache of any kind. Messages list the kinds of caches in the variant's order. Each kind of cache has
/// a record (kKind of its options): name, reader and factory. ChosenCache stands for kinds that a program registered.
using CacheOptions = std::variant<NoCacheOptions,              //
                                  GatedRecurrentCacheOptions,  //
                                  FifoCacheOptions,            //
                                  ConcatenatedCacheOptions,    //
                                  ChosenCache>;

using CacheRow = KindRow<CacheOptions, Sessions>;

/// Returns all kinds of caches: first the kinds of the library, then the kinds that the program registered.
std::span<const CacheRow* const> cache_kinds();

/// Registers a kind of cache. Call register_cache() before any recipe is read. Throws std::invalid_argument if another
/// kind already has the name.
void register_cache(CacheRow row);

/// Registers a kind of cache from a record like those of the library's own kinds. The type Options has the members of
/// CachedLayerOptions.
template <OfCachedLayer Options>
void register_cache(const CacheKind<Options>& kind) {
  register_cache({std::string(kind.name), [kind](const config::View& table, Sessions sessions) -> CacheOptions {
                    return chosen_cache(kind, kind.read(table, sessions));
                  }});
}

/// Returns the options of a cache together with the record of its kind (CacheKind).
ChosenCache chosen_cache(const CacheOptions& options);

/// Reads a `cache` table: kind (a name of cache_kinds()) and the options of that kind. If `sessions` is Sessions::none,
/// reports scope 'lane' as a problem; otherwise, reports kind = "concatenated" as a problem.
CacheOptions read_cache_options(const config::View& table, Sessions sessions = Sessions::none);

/// Returns the layer's options. Returns an empty value for kinds without memory attention (NoCacheOptions,
/// ConcatenatedCacheOptions).
std::optional<CachedLayerOptions> cached_layer_options(const CacheOptions& options);

/// Returns a copy of `options` with `layer` in place of the layer's options. For kinds of caches without memory
/// attention, returns `options` unchanged.
CacheOptions with_layer(const CacheOptions& options, const CachedLayerOptions& layer);

inline bool is_concatenated(const CacheOptions& options) {
  return std::holds_alternative<ConcatenatedCacheOptions>(options);
}

/// Sets the side of the cache's average pooling, for one stage of a backbone, to `side`. The options do not change if
/// `side` is at most 1, or if the cache has no pooling.
void set_pool(CacheOptions& options, int64_t side);

/// Makes a cache, or returns null for kinds without memory attention. `tokens` and `layout`: number and layout of the
/// tokens of the model at its own input size. If options.length is not set, `tokens` and `layout` determine the length
/// of the cache.
std::shared_ptr<Cache> make_cache(const CacheOptions& options, int64_t dim, int64_t tokens, const TokenLayout& layout);

}  // namespace cachet::nn
