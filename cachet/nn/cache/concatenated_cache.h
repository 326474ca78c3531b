#pragma once

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_kind.h"
#include "cachet/nn/cache/held_values.h"
#include "cachet/ops/support/host_flag.h"

namespace cachet::nn {

/// Further columns of the layer's own softmax (ConcatenatedCache), of image models with softmax attention. Without
/// options: its entries are as many and as wide as the layer's own keys.
struct ConcatenatedCacheOptions {
  static const CacheKind<ConcatenatedCacheOptions> kKind;
};

/// What to use where a concatenated cache is refused.
inline constexpr const char* kConcatenatedIsForImages =
    "'concatenated' is for image models with attention.kind = \"softmax\"; for text there is Transformer-XL's memory: "
    "a transformer_xl model and its memory_length";

/// The memory of an attention layer that adds further keys and values to the layer's own in the same softmax, as
/// Transformer-XL's memory (arXiv 1901.02860), but for samples without an order: the rival of Cached Transformers
/// (arXiv 2312.12742), Table 2.
///
/// It has an entry for each of the layer's own keys. An entry is the mean over all samples of a training step of what
/// the layer projects keys and values from, detached. Samples with another number of tokens are interpolated first, as
/// those of a gated recurrent cache are. Buffer: tokens (1, L, D); zeros as long as no step has been stored.
class ConcatenatedCache : public Cloneable<ConcatenatedCache, Cache>, public ops::HostFlag {
 public:
  /// For a layer of `dim` channels with `length` keys of its own.
  ConcatenatedCache(int64_t dim, int64_t length);

  /// input (B, L', D): what keys and values are projected from; its layout is layout.context. Returns the memory of the
  /// step before. `self_output` is not looked at and may be undefined.
  Memory step(const torch::Tensor& input, const torch::Tensor& self_output, const AttentionArgs& args) override;
  void declare_state(AttentionState&) const override {}
  std::optional<std::string> why_memory_varies() const override { return std::nullopt; }

  void reset() override;
  /// Whether a step has been stored. One is taken for granted on the meta device, which has no values. Known on the
  /// host; the device is read only if somebody else has written the tokens.
  bool holds_step() const { return held_.of(tokens); }
  bool host_flag() const override { return holds_step(); }
  void set_host_flag(bool flag) override { held_.set(tokens, flag); }
  /// Fills an empty memory with noise, as if a step had been stored.
  void fill();

  RegisteredTensor tokens;

 private:
  Memory stored_memory() const override { return {tokens, {}}; }

  HeldValues held_;
};

}  // namespace cachet::nn
