#pragma once

#include <cstdint>
#include <optional>

#include "cachet/config/view.h"

namespace cachet::nn {

/// The maximum length of a cache in a new run. No transformer block has as many tokens: the largest number is
/// 67,200, in the first stage of a detector. Runs that began before the limit kMaxCacheLength existed may have
/// longer caches.
inline constexpr int64_t kMaxCacheLength = 131'072;
[[deprecated("kMaxCacheLength")]] inline constexpr int64_t kMostCacheLength = kMaxCacheLength;

/// The scope of a memory: one memory for all samples (the mean over the batch), or one memory for each batch row.
enum class CacheScope { batch_mean, batch_row, lane [[deprecated("batch_row")]] = batch_row };

/// Whether each row of a batch is a separate session with its own state. A layer can have a cache for each row only if
/// each row is a session.
enum class Sessions { none, batch_rows, lanes [[deprecated("batch_rows")]] = batch_rows };
using Streams [[deprecated("Sessions")]] = Sessions;

/// The options of a layer that has a cache with memory attention: channels and length of the memory,
/// and additional parts of the layer.
struct CachedLayerOptions {
  double ratio = 0.5;
  std::optional<int64_t> length = {};
  double share_start = 0.0;
  bool positional_convolution = false;
  std::optional<int64_t> pool = {};  // for kinds that pool: side of the average pooling of the grid
};

/// Options that have the members of CachedLayerOptions. Kinds of caches without pooling may omit the member `pool`.
template <class Options>
concept OfCachedLayer = requires(Options o) {
  o.ratio;
  o.length;
  o.share_start;
  o.positional_convolution;
};

template <OfCachedLayer Options>
CachedLayerOptions layer_of(const Options& o) {
  CachedLayerOptions layer{o.ratio, o.length, o.share_start, o.positional_convolution};
  if constexpr (requires { o.pool; }) layer.pool = o.pool;
  return layer;
}

/// Returns `o` after setting the members of CachedLayerOptions to the values in `layer`.
template <OfCachedLayer Options>
Options with_layer(Options o, const CachedLayerOptions& layer) {
  o.ratio = layer.ratio;
  o.length = layer.length;
  o.share_start = layer.share_start;
  o.positional_convolution = layer.positional_convolution;
  if constexpr (requires { o.pool; })
    if (layer.pool) o.pool = *layer.pool;
  return o;
}

/// Reads `ratio`, `length`, `share_start` and `positional_convolution` of a `cache` table.
CachedLayerOptions read_cached_layer(const config::View& table, CachedLayerOptions defaults);

/// Reads `scope`. If `sessions` is Sessions::none, reports the scope 'lane' as a problem.
CacheScope read_cache_scope(const config::View& table, CacheScope scope, Sessions sessions);

/// Returns the number of memory channels of a layer with dim channels: ratio·dim, rounded down. Throws c10::Error
/// unless `ratio` is above 0 and at most 1.
int64_t cache_dim(double ratio, int64_t dim);

}  // namespace cachet::nn
