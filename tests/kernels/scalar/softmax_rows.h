#pragma once

#include <cmath>

#include "cachet/kernels/softmax_rows.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

/// The softmax of one row of scores, which it overwrites: NaN if a score is NaN or +infinity, 0 if all are -infinity.
template <class T>
void softmax_row(float* scores, T* out, int64_t columns) {
  float largest = -INFINITY, sum = 0.0f;
  bool number = true;
  for (int64_t i = 0; i < columns; ++i) {
    number = number && !std::isnan(scores[i]);
    largest = std::fmax(largest, scores[i]);
  }
  const bool none = std::isinf(largest) && largest < 0;
  number = number && !(std::isinf(largest) && largest > 0);
  for (int64_t i = 0; i < columns && !none; ++i) sum += scores[i] = std::exp(scores[i] - largest);
  for (int64_t i = 0; i < columns; ++i) out[i] = from_float<T>(!number ? NAN : none ? 0.0f : scores[i] / sum);
}

template <class T>
void softmax_rows(const T* scores, const float* bias, float scale, T* out, float* scratch, SoftmaxShape s) {
  for (int64_t row = 0; row < s.rows; ++row) {
    for (int64_t i = 0; i < s.columns; ++i)
      scratch[i] = to_float(scores[row * s.columns + i]) * scale + (bias ? bias[row * s.columns + i] : 0.0f);
    softmax_row(scratch, out + row * s.columns, s.columns);
  }
}

template <class T>
void softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_scores, float* d_bias, SoftmaxShape s) {
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t first = row * s.columns;
    float sum = 0.0f;
    for (int64_t i = first; i < first + s.columns; ++i) sum += to_float(weights[i]) * to_float(grad[i]);
    for (int64_t i = first; i < first + s.columns; ++i) {
      const float pulled = softmax_gradient(to_float(weights[i]), to_float(grad[i]), sum);
      if (d_bias) d_bias[i] += pulled;
      d_scores[i] = from_float<T>(pulled * scale);
    }
  }
}

}  // namespace cachet::kernels::scalar
