#pragma once

#include "cachet/kernels/activations.h"
#include "cachet/kernels/bias_gelu.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

template <class T>
void bias_gelu(const T* x, const float* bias, T* out, BiasRows s) {
  for (int64_t i = 0; i < s.rows * s.width; ++i) out[i] = from_float<T>(gelu(to_float(x[i]) + bias[i % s.width]));
}

template <class T>
void bias_gelu_backward(const T* x, const float* bias, const T* grad, T* d_x, float* d_bias, BiasRows s) {
  for (int64_t i = 0; i < s.rows * s.width; ++i) {
    const float g = to_float(grad[i]) * gelu_slope(to_float(x[i]) + bias[i % s.width]);
    d_x[i] = from_float<T>(g);
    d_bias[i % s.width] += g;
  }
}

}  // namespace cachet::kernels::scalar
