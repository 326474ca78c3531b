#pragma once

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_kind.h"

namespace cachet::nn {

/// First in, first out: the last Tm tokens, without gates. Memory attention reads this cache like a gated recurrent
/// cache. The FIFO cache is a control experiment of this project, with options that a gated recurrent cache has too.
struct FifoCacheOptions {
  double ratio = 0.5;
  std::optional<int64_t> length = {};
  double share_start = 0.0;
  bool positional_convolution = false;
  CacheScope scope = CacheScope::batch_mean;

  static const CacheKind<FifoCacheOptions> kKind;
};

/// First in, first out. Memory attention reads the cache as it was before this segment. Then the first Dm channels of
/// the segment's valid tokens, detached, push out the oldest tokens. The cache starts as zeros, which attention reads.
/// `scope = batch_mean`: one cache, a mean over the batch, which evaluation does not change. `scope = lane`: one cache
/// for each batch row in args.state, which evaluation updates too. Buffer: tokens (1, Tm, Dm). With the default length,
/// the cache has the layout of the model's tokens: the tokens of an image push out all tokens of the previous image.
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
