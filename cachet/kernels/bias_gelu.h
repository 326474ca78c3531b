#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

struct BiasRows {
  int64_t rows, width;
};

/// Computes out = GELU(x + bias), with dense x (rows, width) and bias (width). out and x may be the same array.
template <class T>
void bias_gelu(const T* x, const float* bias, T* out, BiasRows shape);

/// Computes d_x = grad · GELU'(x + bias) and d_bias += Σ_rows d_x. d_x and grad may be the same array.
template <class T>
void bias_gelu_backward(const T* x, const float* bias, const T* grad, T* d_x, float* d_bias, BiasRows shape);

}  // namespace cachet::kernels
