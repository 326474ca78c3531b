#pragma once

#include "cachet/kernels/token_passes.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

template <class T>
void scale_shift(const T* x, const float* scale, const float* shift, T* y, Tokens s) {
  for (int64_t i = 0; i < s.tokens * s.channels; ++i) {
    const int64_t c = i % s.channels;
    y[i] = from_float<T>(scaled_shifted(to_float(x[i]), scale[c], shift ? shift[c] : 0.0f));
  }
}

template <class T>
void scale_subtract(const T* dy, const float* grad_scale, const T* x, const float* input_scale, T* out, Tokens s) {
  for (int64_t i = 0; i < s.tokens * s.channels; ++i) {
    const int64_t c = i % s.channels;
    out[i] = from_float<T>(scaled_difference(to_float(dy[i]), grad_scale[c], to_float(x[i]), input_scale[c]));
  }
}

}  // namespace cachet::kernels::scalar
