#pragma once

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_kind.h"

namespace cachet::nn {

/// A first-in, first-out cache of the last Tm tokens, without gates. Memory attention reads it like a gated recurrent
/// cache. This cache is a control experiment of this project. Its options are also options of a gated recurrent cache.
struct FifoCacheOptions {
  double ratio = 0.5;
  std::optional<int64_t> length = {};
  double share_start = 0.0;
  bool positional_convolution = false;
  CacheScope scope = CacheScope::batch_mean;

  static const CacheKind<FifoCacheOptions> kKind;
};

/// A first-in, first-out cache. Memory attention reads the cache as it was before this segment. Then the first Dm
/// channels of the segment's valid tokens, detached, replace the oldest tokens. The first cache is all zeros.
/// `scope = batch_mean`: one cache, the mean over the batch; evaluation does not change it. `scope = lane`: one cache
/// for each batch row, in args.state; evaluation changes it too. Buffer: tokens (1, Tm, Dm). With the default length,
/// the cache has the layout of the model's tokens: the tokens of an image replace all tokens of the previous image.
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
