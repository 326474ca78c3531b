#pragma once

#include "cachet/kernels/activations.h"
#include "cachet/kernels/token_convolution.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

template <class T>
void convolve_tokens(const T* x, const float* packed, const float* bias, const T* addend, T* out,
                     const ConvolutionShape& s, ConvolutionEnd end, int64_t first_row, int64_t last_row) {
  for (int64_t row = first_row; row < last_row; ++row)
    for (int64_t column = 0; column < s.width; ++column)
      for (int64_t c = 0; c < s.channels; ++c) {
        const int64_t i = (row * s.width + column) * s.channels + c;
        const float before = (bias ? bias[c] : 0.0f) + (addend ? to_float(addend[i]) : 0.0f);
        const T made = from_float<T>(before + convolved(x, packed, s, row, column, c));
        out[i] = end == ConvolutionEnd::gelu ? from_float<T>(gelu(to_float(made))) : made;
      }
}

template <class T>
void convolve_tokens_weight_gradient(const T* grad, const T* x, float* d_packed, const ConvolutionShape& s,
                                     int64_t first, int64_t last) {
  for (int64_t row = 0; row < s.height; ++row)
    for (int64_t column = 0; column < s.width; ++column)
      for (int64_t c = first; c < last; ++c) {
        const int64_t place = (row * s.width + column) * s.channels;
        for_each_tap(s, row, column, [&](Tap tap) {
          for (int64_t j = 0; j < s.group; ++j)
            d_packed[packed_index(s, tap.number, j, c)] +=
                to_float(grad[place + c]) * to_float(x[place + tap.offset * s.channels + (c ^ j)]);
        });
      }
}

}  // namespace cachet::kernels::scalar
