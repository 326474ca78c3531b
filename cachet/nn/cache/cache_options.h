#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "cachet/config/view.h"
#include "cachet/nn/cache/cache.h"

namespace cachet::nn {

/// The most slots that a cache of a new run may have: more than any block has tokens, of which the first stage of a
/// detector has 67,200. Older runs may have more.
inline constexpr int64_t kMostCacheLength = 131'072;

/// Whose memory it is: one for all samples, averaged over the batch, or one per lane of a stream.
enum class CacheScope { batch_mean, lane };

enum class GatedRecurrentCacheVariant { paper, official };
enum class CacheAttend { mean, per_sample };  // training reads the mean of the samples' C_t, or its own
enum class CacheInference {                   // evaluation reads
  frozen,                                     // C as stored
  per_sample,                                 // each sample's own update of it
  updated,                                    // a stream's own, which starts as stored and goes on with the stream
};
enum class CacheGradient { recompute, detached, carry };  // how gates learn when attention reads C_{t-1} (causal)
enum class CacheGates { learned, half };  // half: both ½ whatever comes in, the control that shows what gates are for

/// Gated recurrent cache (Cached Transformers, arXiv 2312.12742, Eq. 3–5).
struct GatedRecurrentCacheOptions {
  double ratio = 0.5;                   // Dm = ratio·D, in (0, 1]
  std::optional<int64_t> length = {};   // Tm; unset: the tokens of the model at its own input size
  double share_start = 0.0;             // λ before training
  bool positional_convolution = false;  // 3×3 over the grid, groups = Dm, added to the layer's output
  CacheScope scope = CacheScope::batch_mean;
  GatedRecurrentCacheVariant variant = GatedRecurrentCacheVariant::paper;
  CacheAttend attend = CacheAttend::mean;        // lanes always read their own
  std::optional<CacheInference> inference = {};  // unset: frozen for batch_mean, updated for lanes
  CacheGradient gradient = CacheGradient::recompute;
  CacheGates gates = CacheGates::learned;
  int64_t pool = 1;  // side of the average pooling of the grid before interpolation

  /// The defaults of a variant. The paper's Algorithm 1 averages before attention reads the cache, and reads the stored
  /// average at inference. The published code starts λ at −1, adds the positional convolution, and runs its gates and
  /// reads each sample's own cache in training and at inference. Either way inference meets what training did.
  static GatedRecurrentCacheOptions of(GatedRecurrentCacheVariant variant);

  CacheInference inference_or_default() const {
    return inference.value_or(scope == CacheScope::lane ? CacheInference::updated : CacheInference::frozen);
  }
};

/// First in, first out: the last Tm tokens, without gates, read by memory attention as a gated recurrent cache is. A
/// control of this project's own. The same options as of a gated recurrent cache.
struct FifoCacheOptions {
  double ratio = 0.5;
  std::optional<int64_t> length = {};
  double share_start = 0.0;
  bool positional_convolution = false;
  CacheScope scope = CacheScope::batch_mean;
};

/// Further columns of the layer's own softmax (ConcatenatedCache), of image models with softmax attention. Without
/// options: its entries are as many and as wide as the layer's own keys.
struct ConcatenatedCacheOptions {};

struct NoCacheOptions {};

using CacheOptions =
    std::variant<NoCacheOptions, GatedRecurrentCacheOptions, FifoCacheOptions, ConcatenatedCacheOptions>;

/// What to use where a concatenated cache is refused.
inline constexpr const char* kConcatenatedIsForImages =
    "'concatenated' is for image models with attention.kind = \"softmax\"; for text there is Transformer-XL's memory: "
    "a transformer_xl model and its memory_length";

/// Whether a model reads streams, each lane of a batch one: without them no cache can belong to a lane.
enum class Streams { none, lanes };

/// Reads a `cache` table: kind = "none" | "grc" | "fifo" | "concatenated", and the options of that kind. Without
/// streams scope = "lane" is a problem; with them kind = "concatenated" is one.
CacheOptions read_cache_options(const config::View& table, Streams streams = Streams::none);

/// What the options of a cache with a memory attention of its own say of the layer around it: its memory's channels and
/// length, and what the layer adds.
struct CachedLayerOptions {
  double ratio = 0.5;
  std::optional<int64_t> length = {};
  double share_start = 0.0;
  bool positional_convolution = false;
};

/// None for NoCacheOptions and ConcatenatedCacheOptions.
std::optional<CachedLayerOptions> cached_layer_options(const CacheOptions& options);

inline bool is_concatenated(const CacheOptions& options) {
  return std::holds_alternative<ConcatenatedCacheOptions>(options);
}

/// Sets the pooling of a gated recurrent cache to that of one stage, `side` above 1; other caches do not pool.
void set_pool(CacheOptions& options, int64_t side);

/// Channels of the memory for a layer of dim channels: ratio·dim, rounded down. Throws c10::Error unless the ratio is
/// above 0 and at most 1.
int64_t cache_dim(double ratio, int64_t dim);

/// `tokens` and `layout`: how many there are in the model at its own input size, and how they lie; they give the cache
/// its length where options.length does not. Null for NoCacheOptions and ConcatenatedCacheOptions.
std::shared_ptr<Cache> make_cache(const CacheOptions& options, int64_t dim, int64_t tokens, const TokenLayout& layout);

}  // namespace cachet::nn
