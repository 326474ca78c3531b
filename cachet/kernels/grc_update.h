#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

// The pointwise parts of a step of the gated recurrent cache, between its products (ops/grc_update.h has the formulas).
// A sample's row t is row b·length + t of what samples have apart; T is float or BFloat16.

/// What a step was made from. W is the width of the cache.
template <class T>
struct GrcInputs {
  const T* token_products;      // (batch·length, 3W): X̄ with the weights of reset gate, update gate and candidate
  const T* cache_products;      // (length, 2W): C with those of both gates, biases added
  const T* reset_products;      // (batch·length, W): r ⊙ C with the candidate's
  const float* cache;           // (length, W)
  const float* candidate_bias;  // (W), or null
  const float *norm_weight, *norm_bias;  // (W): LayerNorm behind GELU; null where the candidate is linear
  float norm_eps;
};

struct GrcShape {
  int64_t batch, length, width;
  bool shared;  // one cache for all samples; otherwise cache and cache_products have batch·length rows
};

/// Rows [from, to) of each sample.
struct GrcRows {
  int64_t from, to;
};

/// reset_cache (batch·length, W) = r ⊙ C
template <class T>
void grc_reset(const GrcInputs<T>& in, T* reset_cache, const GrcShape& shape, GrcRows rows);

/// next (batch·length, W) = (1 − u) ⊙ C + u ⊙ C̃, mean (length, W) its mean over the batch. scratch: W numbers.
template <class T>
void grc_blend(const GrcInputs<T>& in, T* next, float* mean, float* scratch, const GrcShape& shape, GrcRows rows);

/// Gradients of what a step was made from, filled by the two passes that follow.
template <class T>
struct GrcGradients {
  T* token_products;               // (batch·length, 3W)
  float* cache_products;           // (length, 2W), summed over the batch; null where the cache is not shared
  float* cache;                    // (length or batch·length, W), added to; or null
  float *norm_weight, *norm_bias;  // (W), added to; null where there is no norm
};

/// From d_next (batch·length, W) and d_mean (length, W), either may be null: the candidate's and the update gate's
/// columns of token_products, norm_weight, norm_bias and the part of cache that the blend has. scratch: 3W numbers.
template <class T>
void grc_blend_backward(const GrcInputs<T>& in, const T* d_next, const float* d_mean, const GrcGradients<T>& out,
                        float* scratch, const GrcShape& shape, GrcRows rows);

/// From d_reset_cache (batch·length, W) and what grc_blend_backward left: the reset gate's columns of token_products,
/// cache_products, r ⊙ C once more into reset_cache, and the part of cache that r ⊙ C has.
template <class T>
void grc_reset_backward(const GrcInputs<T>& in, const T* d_reset_cache, T* reset_cache, const GrcGradients<T>& out,
                        const GrcShape& shape, GrcRows rows);

namespace scalar {

// The same, one element at a time: what the kernels above are tested against.
template <class T>
void grc_reset(const GrcInputs<T>& in, T* reset_cache, const GrcShape& shape, GrcRows rows);
template <class T>
void grc_blend(const GrcInputs<T>& in, T* next, float* mean, float* scratch, const GrcShape& shape, GrcRows rows);
template <class T>
void grc_blend_backward(const GrcInputs<T>& in, const T* d_next, const float* d_mean, const GrcGradients<T>& out,
                        float* scratch, const GrcShape& shape, GrcRows rows);
template <class T>
void grc_reset_backward(const GrcInputs<T>& in, const T* d_reset_cache, T* reset_cache, const GrcGradients<T>& out,
                        const GrcShape& shape, GrcRows rows);

}  // namespace scalar
}  // namespace cachet::kernels
