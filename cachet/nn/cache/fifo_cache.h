#pragma once

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_kind.h"

namespace cachet::nn {

/// First in, first out: the last Tm tokens, without gates. Memory attention reads it as it reads a gated recurrent
/// cache. It is a control experiment of this project, with options of a gated recurrent cache.
struct FifoCacheOptions {
  double ratio = 0.5;
  std::optional<int64_t> length = {};
  double share_start = 0.0;
  bool positional_convolution = false;
  CacheScope scope = CacheScope::batch_mean;

  static const CacheKind<FifoCacheOptions> kKind;
};

/// First in, first out. Memory attention reads the cache from before this segment. Then the first Dm channels of the
/// segment's valid tokens, detached, push out the oldest tokens. The cache starts as zeros, which are attended to.
/// `scope = batch_mean` has one cache, a mean over the batch, which evaluation does not change. `scope = lane` has one
/// for each batch row in args.state, which evaluation updates too. Buffer: tokens (1, Tm, Dm). With the model's own
/// length, they lie as the model's tokens do: the tokens of an image push out all of the previous image's.
class FifoCache : public Cloneable<FifoCache, Cache> {
 public:
  FifoCache(const FifoCacheOptions& options, int64_t dim, int64_t tokens, const TokenLayout& layout = {});

  Memory step(const torch::Tensor& input, const torch::Tensor& self_output, const AttentionArgs& args) override;
  void declare_state(AttentionState& state) const override;
  std::optional<std::string> why_memory_varies() const override;

  RegisteredTensor tokens;  // the stored cache

 private:
  Memory stored_memory() const override { return {tokens, memory_layout_}; }
  torch::Tensor push(const torch::Tensor& cache, const torch::Tensor& x, const TokenLayout& layout) const;

  FifoCacheOptions options_;
  TokenLayout memory_layout_;
};

}  // namespace cachet::nn
