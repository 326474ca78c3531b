#pragma once

#include "cachet/kernels/attention_rows.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

template <class T>
void divide_totals(const float* numerators, const float* denominators, float eps, T* out, float* divisors,
                   ValueRows s) {
  for (int64_t row = 0; row < s.rows; ++row) {
    const float divisor = denominators[row] + eps;
    divisors[row] = divisor > 0 ? divisor : 0.0f;
    for (int64_t i = 0; i < s.width; ++i)
      out[row * s.stride + i] = from_float<T>(divided(numerators[row * s.width + i], divisor));
  }
}

template <class T>
void divide_totals_backward(const T* out, const float* divisors, const T* grad, int64_t grad_stride, float* d_totals,
                            ValueRows s) {
  for (int64_t row = 0; row < s.rows; ++row) {
    float* d_total = d_totals + row * (s.width + 1);
    d_total[s.width] = 0.0f;
    for (int64_t i = 0; i < s.width; ++i) {
      d_total[i] = divided(to_float(grad[row * grad_stride + i]), divisors[row]);
      d_total[s.width] -= d_total[i] * to_float(out[row * s.stride + i]);
    }
  }
}

}  // namespace cachet::kernels::scalar
