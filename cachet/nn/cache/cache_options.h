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

/// The table of caches: the options of each kind, in the order in which messages list the kinds. The record of a kind
/// (kKind of its options) has its name, reader and factory. ChosenCache is for kinds that a program registered.
using CacheOptions = std::variant<NoCacheOptions,              //
                                  GatedRecurrentCacheOptions,  //
                                  FifoCacheOptions,            //
                                  ConcatenatedCacheOptions,    //
                                  ChosenCache>;

using CacheRow = KindRow<CacheOptions, Sessions>;

/// Returns all kinds: the library's, then those that the program registered.
std::span<const CacheRow* const> cache_kinds();

/// Adds a kind before any recipe is read. Throws std::invalid_argument if the name is taken.
void register_cache(CacheRow row);

/// Adds a kind from a record like those of the library's kinds. Its options have the members of CachedLayerOptions.
template <OfCachedLayer Options>
void register_cache(const CacheKind<Options>& kind) {
  register_cache({std::string(kind.name), [kind](const config::View& table, Sessions sessions) -> CacheOptions {
                    return chosen_cache(kind, kind.read(table, sessions));
                  }});
}

/// Returns the options and the record of their kind.
ChosenCache chosen_cache(const CacheOptions& options);

/// Reads a `cache` table: kind (a name of cache_kinds()) and the options of that kind. Without sessions, a scope of
/// `batch row` is a problem; with sessions, kind = "concatenated" is a problem.
CacheOptions read_cache_options(const config::View& table, Sessions sessions = Sessions::none);

/// Empty for kinds without their own memory attention: NoCacheOptions and ConcatenatedCacheOptions.
std::optional<CachedLayerOptions> cached_layer_options(const CacheOptions& options);

/// Returns the options with those of the layer. Does not change kinds without their own memory attention.
CacheOptions with_layer(const CacheOptions& options, const CachedLayerOptions& layer);

inline bool is_concatenated(const CacheOptions& options) {
  return std::holds_alternative<ConcatenatedCacheOptions>(options);
}

/// Sets the pooling of a cache that pools to that of one stage (`side` above 1). Does not change other caches.
void set_pool(CacheOptions& options, int64_t side);

/// `tokens` and `layout`: the number and the layout of the model's tokens at its own input size. They set the cache's
/// length unless options.length does. Null for kinds without their own memory attention.
std::shared_ptr<Cache> make_cache(const CacheOptions& options, int64_t dim, int64_t tokens, const TokenLayout& layout);

}  // namespace cachet::nn
