#pragma once

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/cache_kind.h"
#include "cachet/nn/layers/linear.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/ops/cache/grc_update.h"

namespace cachet::nn {

enum class GatedRecurrentCacheVariant { paper, official };
enum class CacheAttend { mean, per_sample };  // attention in training reads the mean of all C_t, or each sample's C_t
enum class CacheInference {                   // the cache that attention reads in evaluation
  frozen,                                     // the stored C
  per_sample,                                 // an update of the stored C for each sample
  updated,                                    // each session's own C: it starts as the stored C; the session updates it
};
enum class CacheGradient { recompute, detached, carry };  // how gates of causal layers learn (attention reads C_{t-1})
enum class CacheGates { learned, half };  // half: both gates are ½ for any input (a control experiment)

/// Gated recurrent cache (Cached Transformers, arXiv 2312.12742, Eq. 3–5).
struct GatedRecurrentCacheOptions {
  double ratio = 0.5;                   // Dm = ratio·D, in (0, 1]
  std::optional<int64_t> length = {};   // Tm; unset: the number of the model's tokens at the model's own input size
  double share_start = 0.0;             // initial value of λ
  bool positional_convolution = false;  // adds a 3×3 convolution over the grid (groups = Dm) to the layer's output
  CacheScope scope = CacheScope::batch_mean;
  GatedRecurrentCacheVariant variant = GatedRecurrentCacheVariant::paper;
  CacheAttend attend = CacheAttend::mean;        // with scope batch_row, each row always reads its own C_t
  std::optional<CacheInference> inference = {};  // unset: frozen for scope batch_mean, updated for scope batch_row
  CacheGradient gradient = CacheGradient::recompute;
  CacheGates gates = CacheGates::learned;
  int64_t pool = 1;  // side of the average pooling of the grid before interpolation

  /// Returns the default options of a variant of the cache. In the variant `paper` (Algorithm 1), attention reads the
  /// mean of the samples' caches in training, and the stored mean in inference. In the variant `official` (the
  /// published code), λ starts at −1, there is a positional convolution, inference also runs the gates, and attention
  /// reads each sample's own cache. In both variants, inference and training read the same kind of cache.
  static GatedRecurrentCacheOptions of(GatedRecurrentCacheVariant variant);

  CacheInference inference_or_default() const {
    return inference.value_or(scope == CacheScope::batch_row ? CacheInference::updated : CacheInference::frozen);
  }

  static const CacheKind<GatedRecurrentCacheOptions> kKind;
};

/// Gated recurrent cache (Cached Transformers, arXiv 2312.12742, Algorithm 1; ops::grc_update has the equations).
///
/// X̄ has the first Dm channels of the layer's input (`paper`) or of the output of self-attention (`official`). If
/// `pool` is above 1, the token grid is average-pooled. Afterwards, the valid tokens are interpolated to Tm tokens. In
/// training, memory attention reads the updated C_t (CacheAttend), and the stored cache becomes the batch mean of C_t,
/// detached. Causal layers read C_{t-1} and then compute C_t, so that no later token is visible. CacheGradient selects
/// how the gates of causal layers learn (`recompute` and `carry` need args.state).
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

  RegisteredTensor tokens;  // stored cache (1, Tm, Dm)

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
