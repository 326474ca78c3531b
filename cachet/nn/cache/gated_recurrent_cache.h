#pragma once

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_options.h"
#include "cachet/nn/linear.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/ops/grc_update.h"

namespace cachet::nn {

/// Gated recurrent cache (Cached Transformers, arXiv 2312.12742, Algorithm 1; ops::grc_update has the equations).
///
/// X̄ is made of the first Dm channels of the layer's input (`paper`) or of its self-attention's output (`official`):
/// its grid average-pooled if asked, its valid tokens interpolated to Tm. In training memory attention reads the
/// updated C_t (CacheAttend); the stored cache becomes its batch mean, detached. Causal layers read C_{t-1} and update
/// afterwards, or the future would leak; CacheGradient says how the gates learn then (`recompute` and `carry` need a
/// layout.state).
///
/// Parameters: reset_gate, update_gate (CacheGates::learned), candidate ([cache, tokens] -> Dm), norm (`official`).
/// Buffer: tokens (1, Tm, Dm).
class GatedRecurrentCache : public Cloneable<GatedRecurrentCache, Cache> {
 public:
  GatedRecurrentCache(const GatedRecurrentCacheOptions& options, int64_t dim, int64_t tokens,
                      const TokenLayout& layout);

  Memory step(const torch::Tensor& input, const torch::Tensor& self_output, const AttentionLayout& layout) override;
  void begin_stream(AttentionState& state) const override;
  std::optional<std::string> why_memory_varies() const override;
  std::optional<std::string> why_memory_is_unfamiliar() const override;

  OwnTensor tokens;  // the stored cache

 private:
  Memory stored_memory() const override { return {tokens, memory_layout_}; }
  torch::Tensor compress(const torch::Tensor& source, const TokenLayout& layout) const;
  ops::GateWeights gate(const Part<Linear>& learned) const;
  ops::GrcUpdated update(const torch::Tensor& cache, const torch::Tensor& x) const;
  void tell_gates(const torch::Tensor& cache, const torch::Tensor& x) const;
  torch::Tensor stored(const AttentionLayout& layout, int64_t batch) const;
  void store(const ops::GrcUpdated& next, const AttentionLayout& layout);
  torch::Tensor causal_step(const torch::Tensor& previous, const torch::Tensor& x, const AttentionLayout& layout);
  const char* held_by_stream(const AttentionLayout& layout) const;
  bool updates() const { return is_training() || moves_in_evaluation(); }
  bool moves_in_evaluation() const;

  GatedRecurrentCacheOptions options_;
  TokenLayout memory_layout_;
  Part<Linear> reset_gate_, update_gate_, candidate_;
  Part<LayerNorm> norm_;
};

}  // namespace cachet::nn
