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

/// The options of a cache of any kind. Messages list the kinds in this order. A kind's record (kKind of its options)
/// has its name, reader and factory. ChosenCache is for kinds that a program registered.
using CacheOptions = std::variant<NoCacheOptions,              //
                                  GatedRecurrentCacheOptions,  //
                                  FifoCacheOptions,            //
                                  ConcatenatedCacheOptions,    //
                                  ChosenCache>;

using CacheRow = KindRow<CacheOptions, Sessions>;

/// Returns all kinds: the kinds of the library, followed by the kinds that the program registered.
std::span<const CacheRow* const> cache_kinds();

/// Adds a kind; call it before any recipe is read. Throws std::invalid_argument if the name is taken.
void register_cache(CacheRow row);

/// Adds a kind from a record like the records of the library's kinds. Options has the members of CachedLayerOptions.
template <OfCachedLayer Options>
void register_cache(const CacheKind<Options>& kind) {
  register_cache({std::string(kind.name), [kind](const config::View& table, Sessions sessions) -> CacheOptions {
                    return chosen_cache(kind, kind.read(table, sessions));
                  }});
}

/// Returns the options together with the record of their kind.
ChosenCache chosen_cache(const CacheOptions& options);

/// Reads a `cache` table: kind (a name of cache_kinds()) and the options of that kind. Without sessions, reports scope
/// 'lane' as a problem; with sessions, reports kind = "concatenated" as a problem.
CacheOptions read_cache_options(const config::View& table, Sessions sessions = Sessions::none);

/// Returns the layer's options. Empty for kinds without memory attention (NoCacheOptions, ConcatenatedCacheOptions).
std::optional<CachedLayerOptions> cached_layer_options(const CacheOptions& options);

/// Returns `options` with the layer's options replaced by `layer`. Kinds without memory attention do not change.
CacheOptions with_layer(const CacheOptions& options, const CachedLayerOptions& layer);

inline bool is_concatenated(const CacheOptions& options) {
  return std::holds_alternative<ConcatenatedCacheOptions>(options);
}

/// If `side` (of one stage) is above 1, sets the side of the cache's pooling to it. Caches without pooling do not
/// change.
void set_pool(CacheOptions& options, int64_t side);

/// Makes a cache; null for kinds without memory attention. `tokens` and `layout`: number and layout of the tokens of
/// the model at its own input size. Number and layout set the cache's length, unless options.length sets it.
std::shared_ptr<Cache> make_cache(const CacheOptions& options, int64_t dim, int64_t tokens, const TokenLayout& layout);

}  // namespace cachet::nn
