#include "cachet/nn/cache/cache_options.h"

#include <array>
#include <cmath>
#include <string>

#include "cachet/nn/cache/fifo_cache.h"
#include "cachet/nn/cache/gated_recurrent_cache.h"

namespace cachet::nn {
namespace {

enum class CacheKind { none, grc, fifo, concatenated };
using Variant = GatedRecurrentCacheVariant;

constexpr std::array<config::Choice<CacheKind>, 4> kCacheKinds{{{"none", CacheKind::none},
                                                                {"grc", CacheKind::grc},
                                                                {"fifo", CacheKind::fifo},
                                                                {"concatenated", CacheKind::concatenated}}};
constexpr std::array<config::Choice<Variant>, 2> kCacheVariants{
    {{"paper", Variant::paper}, {"official", Variant::official}}};
constexpr std::array<config::Choice<CacheScope>, 2> kScopes{
    {{"batch_mean", CacheScope::batch_mean}, {"lane", CacheScope::lane}}};
constexpr std::array<config::Choice<CacheAttend>, 2> kAttends{
    {{"mean", CacheAttend::mean}, {"per_sample", CacheAttend::per_sample}}};
constexpr std::array<config::Choice<CacheInference>, 3> kInferences{{{"frozen", CacheInference::frozen},
                                                                     {"per_sample", CacheInference::per_sample},
                                                                     {"updated", CacheInference::updated}}};
constexpr std::array<config::Choice<CacheGradient>, 3> kGradients{
    {{"recompute", CacheGradient::recompute}, {"detached", CacheGradient::detached}, {"carry", CacheGradient::carry}}};

constexpr std::array<config::Choice<CacheGates>, 2> kGates{
    {{"learned", CacheGates::learned}, {"half", CacheGates::half}}};

constexpr int64_t kMostReadCacheLength = 1'000'000;  // version 0.1.0 trained with as many slots

// The keys that all caches have.
template <class Options>
void read_layer_options(const config::View& table, Streams streams, Options& options) {
  options.ratio = table.real("ratio", options.ratio, {0.0, 1.0, /*least_excluded=*/true});
  if (table.has("length")) options.length = table.integer("length", 64, {1, kMostReadCacheLength});
  options.share_start = table.real("share_start", options.share_start, {-20.0, 20.0});
  options.positional_convolution = table.boolean("positional_convolution", options.positional_convolution);
  options.scope = table.choice("scope", options.scope, kScopes);
  if (options.scope == CacheScope::lane && streams == Streams::none)
    table.problem("scope", "'lane' is for models that read streams, which this one does not; use 'batch_mean'");
}

GatedRecurrentCacheOptions read_gated_recurrent(const config::View& table, Streams streams) {
  auto options = GatedRecurrentCacheOptions::of(table.choice("variant", Variant::paper, kCacheVariants));
  read_layer_options(table, streams, options);
  const bool lanes = options.scope == CacheScope::lane;
  options.attend = table.choice("attend", lanes ? CacheAttend::per_sample : options.attend, kAttends);
  options.inference = table.choice(
      "inference", lanes ? CacheInference::updated : options.inference.value_or(CacheInference::frozen), kInferences);
  if (options.inference == CacheInference::updated && streams == Streams::none)
    table.problem("inference", "'updated' is for models that read streams, which this one does not");
  options.gradient = table.choice("gradient", options.gradient, kGradients);
  options.gates = table.choice("gates", options.gates, kGates);
  options.pool = table.integer("pool", options.pool, {1, 64});
  if (lanes && options.attend == CacheAttend::mean)
    table.problem("attend", "'mean' would mix the lanes of scope = \"lane\"; use 'per_sample'");
  return options;
}

// The keys that other caches have, and why this one does not.
ConcatenatedCacheOptions read_concatenated(const config::View& table, Streams streams) {
  if (streams == Streams::lanes) table.problem("kind", kConcatenatedIsForImages);
  const std::string leave = "; leave it out";
  for (const char* key : {"ratio", "length", "pool"})
    table.refuse(key, "a concatenated cache has an entry for each of the layer's own keys, as wide as these" + leave);
  for (const char* key : {"share_start", "variant", "gates", "attend", "inference", "gradient", "scope"})
    table.refuse(key,
                 "a concatenated cache has neither gates nor λ: its keys are in the layer's own softmax, in "
                 "evaluation those of the last training step" +
                     leave);
  table.refuse("positional_convolution", "a concatenated cache has no positional convolution" + leave);
  return {};
}

}  // namespace

GatedRecurrentCacheOptions GatedRecurrentCacheOptions::of(GatedRecurrentCacheVariant variant) {
  GatedRecurrentCacheOptions options;
  options.variant = variant;
  if (variant == Variant::official) {
    options.share_start = -1.0;
    options.positional_convolution = true;
    options.attend = CacheAttend::per_sample;
    options.inference = CacheInference::per_sample;
  }
  return options;
}

CacheOptions read_cache_options(const config::View& table, Streams streams) {
  switch (table.choice("kind", CacheKind::none, kCacheKinds)) {
    case CacheKind::grc:
      return read_gated_recurrent(table, streams);
    case CacheKind::fifo: {
      FifoCacheOptions options;
      read_layer_options(table, streams, options);
      return options;
    }
    case CacheKind::concatenated:
      return read_concatenated(table, streams);
    case CacheKind::none:
      break;
  }
  return NoCacheOptions{};
}

std::optional<CachedLayerOptions> cached_layer_options(const CacheOptions& options) {
  return std::visit(
      []<class Options>(const Options& o) -> std::optional<CachedLayerOptions> {
        if constexpr (requires { o.ratio; })
          return CachedLayerOptions{o.ratio, o.length, o.share_start, o.positional_convolution};
        else
          return std::nullopt;
      },
      options);
}

void set_pool(CacheOptions& options, int64_t side) {
  if (auto* grc = std::get_if<GatedRecurrentCacheOptions>(&options); grc && side > 1) grc->pool = side;
}

int64_t cache_dim(double ratio, int64_t dim) {
  TORCH_CHECK(ratio > 0 && ratio <= 1, "cache: ratio must be above 0 and at most 1, got ", ratio);
  return static_cast<int64_t>(static_cast<double>(dim) * ratio);
}

std::shared_ptr<Cache> make_cache(const CacheOptions& options, int64_t dim, int64_t tokens, const TokenLayout& layout) {
  if (const auto layer = cached_layer_options(options)) {
    TORCH_CHECK(!layer->length || *layer->length >= 1, "cache: length must be at least 1, got ", *layer->length);
    TORCH_CHECK(layer->length || tokens >= 1, "cache: as long as the model's tokens, of which there are ", tokens,
                "; say how long it is to be");
    TORCH_CHECK(std::isfinite(layer->share_start), "cache: share_start must be a number, got ", layer->share_start);
  }
  if (const auto* grc = std::get_if<GatedRecurrentCacheOptions>(&options))
    return std::make_shared<GatedRecurrentCache>(*grc, dim, tokens, layout);
  if (const auto* fifo = std::get_if<FifoCacheOptions>(&options))
    return std::make_shared<FifoCache>(*fifo, dim, tokens, layout);
  return nullptr;
}

}  // namespace cachet::nn
