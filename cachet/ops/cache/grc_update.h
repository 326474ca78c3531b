#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

/// A linear map of the concatenation [cache, tokens] as one matrix: weight (N, 2·Dm), the first Dm columns for
/// the cache; bias (N) or no bias.
struct GateWeights {
  at::Tensor weight;
  std::optional<at::Tensor> bias;
};

/// The LayerNorm of the candidate in the published code: its weight and bias (Dm).
struct CandidateNorm {
  at::Tensor weight, bias;
  double eps = 1e-5;
};

struct GrcUpdated {
  at::Tensor samples;  // C' of each sample (B, Tm, Dm)
  at::Tensor mean;     // mean of C' over the batch (1, Tm, Dm), in the dtype of cache
};

/// One step of the gated recurrent cache (Cached Transformers, arXiv 2312.12742, Eq. 4–5 and Algorithm 1):
///   r = σ(W_r[C, X̄]),  u = σ(W_u[C, X̄]),  C̃ = f(W_c[r ⊙ C, X̄]),  C' = (1 − u) ⊙ C + u ⊙ C̃.
/// f is the identity in the paper, and LayerNorm ∘ GELU in the published code (if `norm` is given).
///
/// cache (1, Tm, Dm) for the whole batch, or (B, Tm, Dm) for the samples; tokens X̄ (B, Tm, Dm). If the batch has one
/// cache, the updated caches have the dtype of tokens. If each sample has a cache, the updated caches have the wider of
/// the dtypes of cache and tokens. The mean over the samples is computed before rounding. Differentiable in all
/// tensors. Only the unfused form (ATen operators) is differentiable twice. Under autocast, tokens and weights are
/// converted to the autocast dtype.
///
/// The product with [C, X̄] is the sum of a product with C and a product with X̄, for each weight. If all samples share
/// one cache, the products of this cache with W_r and W_u are computed only once. One matrix product multiplies the
/// tokens by W_r, W_u and W_c. Throws c10::Error if shapes do not agree.
GrcUpdated grc_update(const at::Tensor& cache, const at::Tensor& tokens, const GateWeights& reset,
                      const GateWeights& update, const GateWeights& candidate,
                      const std::optional<CandidateNorm>& norm = {});

}  // namespace cachet::ops
