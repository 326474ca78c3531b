#pragma once

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_kind.h"
#include "cachet/nn/cache/held_values.h"
#include "cachet/ops/support/host_flag.h"

namespace cachet::nn {

/// The options of ConcatenatedCache, a cache that adds columns to the softmax of an attention layer. ConcatenatedCache
/// is for image models with softmax attention. The cache has no options: the number and the width of its entries are
/// those of the layer's own keys.
struct ConcatenatedCacheOptions {
  static const CacheKind<ConcatenatedCacheOptions> kKind;
};

/// The advice in error messages about a concatenated cache in a model that does not support this cache.
inline constexpr const char* kConcatenatedIsForImages =
    "'concatenated' is only for image models with attention.kind = \"softmax\". For text, use the memory of "
    "Transformer-XL: a transformer_xl model with memory_length";

/// A memory that adds keys and values to the keys and values of an attention layer, in the softmax of the layer.
/// ConcatenatedCache resembles Transformer-XL's memory (arXiv 1901.02860), but is for samples without an order. Cached
/// Transformers (arXiv 2312.12742, Table 2) compares its caches with a memory like ConcatenatedCache.
///
/// The memory has one entry for each of the layer's own keys. An entry is a token from which the layer projects a key
/// and a value: the detached mean over all samples of a training step. If the samples and the memory differ in the
/// number of tokens, the samples' tokens are interpolated first, as for a gated recurrent cache. Buffer: tokens (1, L,
/// D), zeros until the first step is stored.
class ConcatenatedCache : public Cloneable<ConcatenatedCache, Cache>, public ops::HostFlag {
 public:
  /// Makes a cache for a layer of `dim` channels. `length`: number of the layer's own keys.
  ConcatenatedCache(int64_t dim, int64_t length);

  /// input (B, L', D): the tokens from which keys and values are projected; args.context is their layout. Returns the
  /// memory that the previous training step stored. The argument `self_output` is ignored and may be undefined.
  Memory step(const torch::Tensor& input, const torch::Tensor& self_output, const AttentionArgs& args) override;
  void declare_state(AttentionState&) const override {}
  std::optional<std::string> why_memory_varies() const override { return std::nullopt; }

  void reset() override;
  /// Whether the cache holds a step (always true on the meta device, which has no values). The cache stores the result
  /// on the host, and reads the device only if other code has written the buffer `tokens`.
  bool holds_step() const { return held_.of(tokens); }
  bool host_flag() const override { return holds_step(); }
  void set_host_flag(bool flag) override { held_.set(tokens, flag); }
  /// Fills an empty memory with noise, as if a step were stored.
  void fill();

  RegisteredTensor tokens;

 private:
  Memory stored_memory() const override { return {tokens, {}}; }

  HeldValues held_;
};

}  // namespace cachet::nn
