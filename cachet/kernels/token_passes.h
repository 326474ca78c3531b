#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// The passes of channel-wise norms over tokens (tokens, channels), dense and row-major. Sums and
// coefficients have the shape (channels). T is float or BFloat16.

struct Tokens {
  int64_t tokens, channels;
};

/// Computes sums += Σ_t x² over all tokens except padding. padding (tokens), true = padding, may be null.
template <class T>
void sum_of_squares(const T* x, const bool* padding, float* sums, Tokens shape);

/// Computes products += Σ_t dy·x and totals += Σ_t dy over all tokens except padding.
template <class T>
void gradient_sums(const T* dy, const T* x, const bool* padding, float* products, float* totals, Tokens shape);

/// Computes y = x·scale + shift; shift may be null.
template <class T>
void scale_shift(const T* x, const float* scale, const float* shift, T* y, Tokens shape);

/// Computes out = dy·grad_scale − x·input_scale.
template <class T>
void scale_subtract(const T* dy, const float* grad_scale, const T* x, const float* input_scale, T* out, Tokens shape);

// --- one element -----------------------------------------------------------------------------------------------------

CACHET_HOST_DEVICE inline float scaled_shifted(float x, float scale, float shift) { return x * scale + shift; }

CACHET_HOST_DEVICE inline float scaled_difference(float dy, float grad_scale, float x, float input_scale) {
  return dy * grad_scale - x * input_scale;
}

}  // namespace cachet::kernels
