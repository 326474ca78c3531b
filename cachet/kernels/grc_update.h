#pragma once

#include <cstdint>

#include "cachet/kernels/activations.h"
#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

// The pointwise parts of a step of the gated recurrent cache. The functions of this file run between the matrix
// products of the step (ops/cache/grc_update.h has the formulas). In arrays for all samples, row t of sample b is row
// b·length + t. T is float or BFloat16.

/// The inputs of a step. W is the number of channels of the cache.
template <class T>
struct GrcInputs {
  const T* token_products;      // (batch·length, 3W): X̄ times the weights of reset gate, update gate and candidate
  const T* cache_products;      // (length, 2W): C times the weights of both gates, plus the biases
  const T* reset_products;      // (batch·length, W): r ⊙ C times the candidate's weights
  const float* cache;           // (length, W)
  const float* candidate_bias;  // (W), or null
  const float *norm_weight, *norm_bias;  // (W): LayerNorm after GELU; null without a norm
  float norm_eps;
};

struct GrcShape {
  int64_t batch, length, width;
  bool shared;  // whether all samples have the same cache; if not, cache and cache_products have batch·length rows
};

/// The rows [from, to) of each sample.
struct GrcRows {
  int64_t from, to;
};

/// Computes reset_cache (batch·length, W) = r ⊙ C.
template <class T>
void grc_reset(const GrcInputs<T>& in, T* reset_cache, const GrcShape& shape, GrcRows rows);

/// Computes next (batch·length, W) = (1 − u) ⊙ C + u ⊙ C̃, and the batch mean of next (length, W). scratch: W numbers.
template <class T>
void grc_blend(const GrcInputs<T>& in, T* next, float* mean, float* scratch, const GrcShape& shape, GrcRows rows);

/// The gradients of the inputs of a step, which grc_blend_backward() and grc_reset_backward() compute.
template <class T>
struct GrcGradients {
  T* token_products;               // (batch·length, 3W)
  float* cache_products;           // (length, 2W), the sum over the batch; null if the cache is not shared
  float* cache;                    // (length or batch·length, W), to which gradients are added; or null
  float *norm_weight, *norm_bias;  // (W), to which gradients are added; null without a norm
};

/// Reads the gradients d_next (batch·length, W) and d_mean (length, W) of the results; both may be null. Computes the
/// gradients of token_products (only candidate and update gate), norm_weight, norm_bias and cache (only the part from
/// the blend). scratch: 3W numbers.
template <class T>
void grc_blend_backward(const GrcInputs<T>& in, const T* d_next, const float* d_mean, const GrcGradients<T>& out,
                        float* scratch, const GrcShape& shape, GrcRows rows);

/// From d_reset_cache (batch·length, W) and the results of grc_blend_backward(), computes the gradient of
/// cache_products, the gradient of the reset gate's columns of token_products, and the part of cache's gradient that
/// comes from r ⊙ C. Computes r ⊙ C again and writes it to reset_cache.
template <class T>
void grc_reset_backward(const GrcInputs<T>& in, const T* d_reset_cache, T* reset_cache, const GrcGradients<T>& out,
                        const GrcShape& shape, GrcRows rows);

// --- one element -----------------------------------------------------------------------------------------------------

/// Pointers to the numbers of one row of one sample.
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

/// The mean and 1/√(variance + ε) of a row.
struct Moments {
  float mean, inverse_deviation;
};

/// Returns the value of a gate: the sigmoid of the sum of its two products.
template <class T>
CACHET_HOST_DEVICE inline float gate(T token_product, T cache_product) {
  return sigmoid(to_float(token_product) + to_float(cache_product));
}

/// Returns element i of the candidate C̃ before its activation, for one row: the sum of both products and the bias.
template <class T>
CACHET_HOST_DEVICE inline float candidate_product(const GrcInputs<T>& in, const GrcRow<T>& at, int64_t i) {
  return to_float(at.token_candidate[i]) + to_float(at.reset_product[i]) +
         (in.candidate_bias ? in.candidate_bias[i] : 0.0f);
}

CACHET_HOST_DEVICE inline float normalized(float x, Moments m) { return (x - m.mean) * m.inverse_deviation; }

/// Returns the blend (1 − u)·c + u·c̃ of the cache c and the candidate c̃, with the update gate u.
CACHET_HOST_DEVICE inline float blended(float u, float cache, float candidate) {
  return (1.0f - u) * cache + u * candidate;
}

/// The gradients of blended() by the cache, by the candidate, and by the product from which the update gate u is
/// computed. `g` is the gradient of the result of blended().
struct BlendGradient {
  float update_product, cache, candidate;
};
CACHET_HOST_DEVICE inline BlendGradient blend_gradient(float g, float u, float cache, float candidate) {
  return {g * (candidate - cache) * u * (1.0f - u), (1.0f - u) * g, g * u};
}

/// Returns the gradient of one input of LayerNorm. g is the gradient of the normalized number z. mean_g and mean_gz are
/// the means of g and g·z over the row.
CACHET_HOST_DEVICE inline float layer_norm_gradient(float g, float mean_g, float mean_gz, float z, Moments m) {
  return (g - mean_g - z * mean_gz) * m.inverse_deviation;
}

/// Returns the gradient of the product from which the reset gate r is computed. `g` is the gradient of an element of r
/// ⊙ C.
CACHET_HOST_DEVICE inline float reset_gradient(float g, float r, float cache) { return g * cache * r * (1.0f - r); }

}  // namespace cachet::kernels
