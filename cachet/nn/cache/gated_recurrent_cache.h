#pragma once

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_kind.h"
#include "cachet/nn/layers/linear.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/ops/cache/grc_update.h"

namespace cachet::nn {

enum class GatedRecurrentCacheVariant { paper, official };
enum class CacheAttend { mean, per_sample };  // in training, attention reads the samples' mean C_t or each sample's C_t
enum class CacheInference {                   // in evaluation, attention reads
  frozen,                                     // C as stored
  per_sample,                                 // each sample's own update of C
  updated,                                    // the session's own C: it starts as stored and is updated in the session
};
enum class CacheGradient { recompute, detached, carry };  // how gates learn if attention reads C_{t-1} (causal)
enum class CacheGates { learned, half };                  // half: both are ½ for any input, a control experiment

/// Gated recurrent cache (Cached Transformers, arXiv 2312.12742, Eq. 3–5).
struct GatedRecurrentCacheOptions {
  double ratio = 0.5;                   // Dm = ratio·D, in (0, 1]
  std::optional<int64_t> length = {};   // Tm; unset: the number of tokens of the model at its own input size
  double share_start = 0.0;             // λ before training
  bool positional_convolution = false;  // 3×3 over the grid, groups = Dm, added to the layer's output
  CacheScope scope = CacheScope::batch_mean;
  GatedRecurrentCacheVariant variant = GatedRecurrentCacheVariant::paper;
  CacheAttend attend = CacheAttend::mean;        // batch rows always read their own C_t
  std::optional<CacheInference> inference = {};  // unset: frozen for batch_mean, updated for batch rows
  CacheGradient gradient = CacheGradient::recompute;
  CacheGates gates = CacheGates::learned;
  int64_t pool = 1;  // side of the average pooling of the grid before interpolation

  /// Returns a variant's defaults. The paper's Algorithm 1 averages before attention reads the cache, and reads the
  /// stored average at inference. The published code starts λ at −1, adds the positional convolution, and in training
  /// and at inference runs its gates and reads each sample's own cache. In both, training and inference read the same.
  static GatedRecurrentCacheOptions of(GatedRecurrentCacheVariant variant);

  CacheInference inference_or_default() const {
    return inference.value_or(scope == CacheScope::batch_row ? CacheInference::updated : CacheInference::frozen);
  }

  static const CacheKind<GatedRecurrentCacheOptions> kKind;
};

/// Gated recurrent cache (Cached Transformers, arXiv 2312.12742, Algorithm 1; ops::grc_update has the equations).
///
/// X̄ comes from the first Dm channels of the layer's input (`paper`) or of its self-attention's output (`official`):
/// the grid is average-pooled if `pool` asks for it, and the valid tokens are interpolated to Tm. In training, memory
/// attention reads the updated C_t (CacheAttend); the stored cache becomes its batch mean, detached. Causal layers read
/// C_{t-1} and update afterwards, so that no later token is visible. CacheGradient selects how their gates learn
/// (`recompute` and `carry` need a layout.state).
///
/// Parameters: reset_gate, update_gate (CacheGates::learned), candidate ([cache, tokens] -> Dm), norm (`official`).
/// Buffer: tokens (1, Tm, Dm).
class GatedRecurrentCache : public Cloneable<GatedRecurrentCache, Cache> {
 public:
  GatedRecurrentCache(const GatedRecurrentCacheOptions& options, int64_t dim, int64_t tokens,
                      const TokenLayout& layout);

  Memory step(const torch::Tensor& input, const torch::Tensor& self_output, const AttentionArgs& args) override;
  void declare_state(AttentionState& state) const override;
  std::optional<std::string> why_memory_varies() const override;
  std::optional<std::string> why_memory_is_unfamiliar() const override;

  RegisteredTensor tokens;  // the stored cache

 private:
  Memory stored_memory() const override { return {tokens, memory_layout_}; }
  torch::Tensor compress(const torch::Tensor& source, const TokenLayout& layout) const;
  ops::GateWeights gate(const Submodule<Linear>& learned) const;
  ops::GrcUpdated update(const torch::Tensor& cache, const torch::Tensor& x) const;
  void tell_gates(const torch::Tensor& cache, const torch::Tensor& x) const;
  torch::Tensor stored(const AttentionArgs& args, int64_t batch) const;
  void store(const ops::GrcUpdated& next, const AttentionArgs& args);
  torch::Tensor causal_step(const torch::Tensor& previous, const torch::Tensor& x, const AttentionArgs& args);
  const char* held_by_session(const AttentionArgs& args) const;
  bool updates() const { return is_training() || moves_in_evaluation(); }
  bool moves_in_evaluation() const;

  GatedRecurrentCacheOptions options_;
  TokenLayout memory_layout_;
  Submodule<Linear> reset_gate_, update_gate_, candidate_;
  Submodule<LayerNorm> norm_;
};

}  // namespace cachet::nn
