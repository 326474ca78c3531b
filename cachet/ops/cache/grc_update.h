#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// A linear map of the concatenation [cache, tokens] as one matrix: weight (N, 2·Dm), whose first Dm columns multiply
/// the cache; bias (N) or none.
struct GateWeights {
  at::Tensor weight;
  std::optional<at::Tensor> bias;
};

/// The published candidate's LayerNorm: weight and bias (Dm).
struct CandidateNorm {
  at::Tensor weight, bias;
  double eps = 1e-5;
};

struct GrcUpdated {
  at::Tensor samples;  // C' of each sample (B, Tm, Dm)
  at::Tensor mean;     // their mean over the batch (1, Tm, Dm), in the dtype of cache
};

/// One step of the gated recurrent cache (Cached Transformers, arXiv 2312.12742, Eq. 4–5 and Algorithm 1):
///   r = σ(W_r[C, X̄]),  u = σ(W_u[C, X̄]),  C̃ = f(W_c[r ⊙ C, X̄]),  C' = (1 − u) ⊙ C + u ⊙ C̃
/// where f is the identity in the paper and LayerNorm ∘ GELU in the published code (norm given).
///
/// cache (1, Tm, Dm), shared by the batch, or (B, Tm, Dm); tokens X̄ (B, Tm, Dm). The successors of a shared cache are
/// in the dtype of tokens, those of a sample's own cache in the wider of both; their mean is taken before they are
/// rounded. Differentiable in everything, twice only in the unfused form. Under autocast, tokens and weights are
/// brought to the autocast dtype.
///
/// The half of each product that meets the cache does not depend on the sample: with a shared cache it is computed
/// once, and all that meets the tokens shares one product. Throws c10::Error when shapes do not agree.
GrcUpdated grc_update(const at::Tensor& cache, const at::Tensor& tokens, const GateWeights& reset,
                      const GateWeights& update, const GateWeights& candidate,
                      const std::optional<CandidateNorm>& norm = {});

}  // namespace cachet::ops
