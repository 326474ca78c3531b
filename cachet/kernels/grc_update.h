#pragma once

#include <cstdint>

#include "cachet/kernels/activations.h"
#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

// The pointwise parts of a step of the gated recurrent cache, between its products (ops/cache/grc_update.h has the
// formulas). A sample's row t is row b·length + t of what samples have apart; T is float or BFloat16.

/// What a step was made from. W is the width of the cache.
template <class T>
struct GrcInputs {
  const T* token_products;      // (batch·length, 3W): X̄ with the weights of reset gate, update gate and candidate
  const T* cache_products;      // (length, 2W): C with those of both gates, biases added
  const T* reset_products;      // (batch·length, W): r ⊙ C with the candidate's
  const float* cache;           // (length, W)
  const float* candidate_bias;  // (W), or null
  const float *norm_weight, *norm_bias;  // (W): LayerNorm after GELU; null where the candidate is linear
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

// --- one element -----------------------------------------------------------------------------------------------------

/// Where one row of one sample lies.
template <class T>
struct GrcRow {
  CACHET_HOST_DEVICE GrcRow(const GrcInputs<T>& in, const GrcShape& s, int64_t sample, int64_t t) {
    const int64_t own = sample * s.length + t, held = s.shared ? t : own;
    row = own;
    cache_row = held;
    token_reset = in.token_products + own * 3 * s.width;
    token_update = token_reset + s.width;
    token_candidate = token_update + s.width;
    cache_reset = in.cache_products + held * 2 * s.width;
    cache_update = cache_reset + s.width;
    reset_product = in.reset_products ? in.reset_products + own * s.width : nullptr;
    cache = in.cache + held * s.width;
  }
  int64_t row, cache_row;
  const T *token_reset, *token_update, *token_candidate, *cache_reset, *cache_update, *reset_product;
  const float* cache;
};

/// Mean and 1/√(variance + ε) of a row.
struct Moments {
  float mean, inverse_deviation;
};

/// A gate from its two products.
template <class T>
CACHET_HOST_DEVICE inline float gate(T token_product, T cache_product) {
  return sigmoid(to_float(token_product) + to_float(cache_product));
}

/// The candidate's product i of a row, bias added.
template <class T>
CACHET_HOST_DEVICE inline float candidate_product(const GrcInputs<T>& in, const GrcRow<T>& at, int64_t i) {
  return to_float(at.token_candidate[i]) + to_float(at.reset_product[i]) +
         (in.candidate_bias ? in.candidate_bias[i] : 0.0f);
}

CACHET_HOST_DEVICE inline float normalized(float x, Moments m) { return (x - m.mean) * m.inverse_deviation; }

/// (1 − u)·c + u·c̃
CACHET_HOST_DEVICE inline float blended(float u, float cache, float candidate) {
  return (1.0f - u) * cache + u * candidate;
}

/// What the gradient g of a blended element gives: to the update gate's product, to the cache, to the candidate.
struct BlendGradient {
  float update_product, cache, candidate;
};
CACHET_HOST_DEVICE inline BlendGradient blend_gradient(float g, float u, float cache, float candidate) {
  return {g * (candidate - cache) * u * (1.0f - u), (1.0f - u) * g, g * u};
}

/// The gradient of a number before LayerNorm from that of its z, and from the row's means of these and of their
/// products with z.
CACHET_HOST_DEVICE inline float layer_norm_gradient(float g, float mean_g, float mean_gz, float z, Moments m) {
  return (g - mean_g - z * mean_gz) * m.inverse_deviation;
}

/// What the gradient g of an element of r ⊙ C gives to the reset gate's product.
CACHET_HOST_DEVICE inline float reset_gradient(float g, float r, float cache) { return g * cache * r * (1.0f - r); }

}  // namespace cachet::kernels
