#pragma once

#include <cmath>

#include "cachet/kernels/relative_softmax_rows.h"
#include "cachet/kernels/softmax_rows.h"
#include "tests/kernels/scalar/softmax_rows.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

template <class T>
void relative_softmax_rows(const T* content, const T* position, const uint8_t* hidden, float scale, T* out,
                           float* scratch, RelativeSoftmaxShape s) {
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t first = row * s.columns;
    for (int64_t i = 0; i < s.columns; ++i) {
      const int64_t source = shifted_from(row, i, s);
      scratch[i] = (to_float(content[first + i]) + (source < 0 ? 0.0f : to_float(position[source]))) * scale;
      if (hidden && hidden[first + i]) scratch[i] = -INFINITY;
    }
    softmax_row(scratch, out + first, s.columns);
  }
}

template <class T>
void relative_softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_content, T* d_position,
                                    RelativeSoftmaxShape s) {
  for (int64_t i = 0; i < s.rows * s.columns; ++i) d_position[i] = from_float<T>(0.0f);
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t first = row * s.columns;
    float sum = 0.0f;
    for (int64_t i = first; i < first + s.columns; ++i) sum += to_float(weights[i]) * to_float(grad[i]);
    for (int64_t i = 0; i < s.columns; ++i) {
      const float pulled = scale * softmax_gradient(to_float(weights[first + i]), to_float(grad[first + i]), sum);
      d_content[first + i] = from_float<T>(pulled);
      if (const int64_t source = shifted_from(row, i, s); source >= 0) d_position[source] = from_float<T>(pulled);
    }
  }
}

}  // namespace cachet::kernels::scalar
