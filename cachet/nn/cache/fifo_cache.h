#pragma once

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_kind.h"

namespace cachet::nn {

/// A first-in, first-out cache of the last Tm tokens, without gates. Memory attention reads a first-in, first-out cache
/// in the same way as a gated recurrent cache. The first-in, first-out cache serves as a control in experiments of this
/// project. All options of a first-in, first-out cache are also options of a gated recurrent cache.
struct FifoCacheOptions {
  double ratio = 0.5;
  std::optional<int64_t> length = {};
  double share_start = 0.0;
  bool positional_convolution = false;
  CacheScope scope = CacheScope::batch_mean;

  static const CacheKind<FifoCacheOptions> kKind;
};

/// A first-in, first-out cache. Memory attention reads the cache as it was before the current segment. After attention,
/// the first Dm channels of the segment's valid tokens, detached, replace the oldest tokens of the cache. At the
/// beginning, the cache is all zeros. If `scope = batch_mean`, there is one cache, the mean over the batch, and
/// evaluation does not change it. If `scope = lane`, each batch row has its own cache in args.state, and evaluation
/// also changes it. Buffer: tokens (1, Tm, Dm). With the default length, the cache has the layout of the model's
/// tokens: the tokens of an image replace all tokens of the previous image.
class FifoCache : public Cloneable<FifoCache, Cache> {
 public:
  FifoCache(const FifoCacheOptions& options, int64_t dim, int64_t tokens, const TokenLayout& layout = {});

  Memory step(const torch::Tensor& input, const torch::Tensor& self_output, const AttentionArgs& args) override;
  void declare_state(AttentionState& state) const override;
  std::optional<std::string> why_memory_varies() const override;

  RegisteredTensor tokens;  // stored cache (1, Tm, Dm)

 private:
  Memory stored_memory() const override { return {tokens, memory_layout_}; }
  torch::Tensor push(const torch::Tensor& cache, const torch::Tensor& x, const TokenLayout& layout) const;

  FifoCacheOptions options_;
  TokenLayout memory_layout_;
};

}  // namespace cachet::nn
