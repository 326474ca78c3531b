#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// A linear map of the concatenation [cache, tokens], kept whole: weight (N, 2·Dm), its first Dm columns meet the
/// cache; bias (N) or none.
struct GateWeights {
  at::Tensor weight;
  std::optional<at::Tensor> bias;
};

/// The published candidate's LayerNorm: weight and bias (Dm).
struct CandidateNorm {
  at::Tensor weight, bias;
  double eps = 1e-5;
};

/// One step of the gated recurrent cache (Cached Transformers, arXiv 2312.12742, Eq. 2–3 and Algorithm 1):
///   r = σ(W_r[C, X̄]),  u = σ(W_u[C, X̄]),  C̃ = f(W_c[r ⊙ C, X̄]),  C' = (1 − u) ⊙ C + u ⊙ C̃
/// where f is the identity in the paper and LayerNorm ∘ GELU in the published code (norm given).
///
/// cache (1, Tm, Dm), shared by the batch, or (B, Tm, Dm); tokens X̄ (B, Tm, Dm). Returns the per-sample successor
/// (B, Tm, Dm), in the wider of the two dtypes. Differentiable in everything.
///
/// The half of each product that meets the cache does not depend on the sample: with a shared cache it is computed
/// once, and the two gates share one product. Throws c10::Error when shapes do not agree.
at::Tensor grc_update(const at::Tensor& cache, const at::Tensor& tokens, const GateWeights& reset,
                      const GateWeights& update, const GateWeights& candidate,
                      const std::optional<CandidateNorm>& norm = {});

}  // namespace cachet::ops
