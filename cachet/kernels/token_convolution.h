#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

/// The shape of one sample's tokens on a grid, row by row, channels last: (height·width, channels).
struct ConvolutionShape {
  int64_t height, width, channels;
  int64_t group;  // input and output channels of each group: 1, 2, 4 or 8
};

/// The function applied to the sum of convolution, bias and addend.
enum class ConvolutionEnd { linear, gelu };

// A grouped 3 × 3 convolution with zero padding. Each group has `group` input and output channels. Weights are stored
// for SIMD vectors of channels: packed[tap][j][c] = weight[c][(c mod group) xor j][tap]. With this layout, product j
// for output channel c reads input channel c xor j: for each j, one permutation of the channels of a group.

/// Packs weight (channels, group, 3, 3) as (9, group, channels). If `transposed`, packs the weights for the convolution
/// that is applied to the gradient.
void pack_convolution(const float* weight, float* packed, const ConvolutionShape& shape, bool transposed);

/// Reverses pack_convolution(): computes weight from packed.
void unpack_convolution(const float* packed, float* weight, const ConvolutionShape& shape);

/// Computes out = end(convolution(x) + bias (channels) + addend) for rows [first_row, last_row) of the grid. bias and
/// addend (in the layout of x) may be null; out may be addend. For ConvolutionEnd::gelu, the sum is first rounded to T,
/// and GELU is then applied.
template <class T>
void convolve_tokens(const T* x, const float* packed, const float* bias, const T* addend, T* out,
                     const ConvolutionShape& shape, ConvolutionEnd end, int64_t first_row, int64_t last_row);

/// Adds the gradient of the weights of the channels [first, last) to d_packed. `first` and `last` are multiples of 64,
/// or equal to `channels`.
template <class T>
void convolve_tokens_weight_gradient(const T* grad, const T* x, float* d_packed, const ConvolutionShape& shape,
                                     int64_t first, int64_t last);

// --- one element -----------------------------------------------------------------------------------------------------

/// One of the nine taps at a position of the grid. `offset` is the distance, in tokens, from the position to the token
/// that the tap reads.
struct Tap {
  int64_t number, offset;
};

/// Calls step(tap) for those of the nine taps whose input lies on the grid of tokens.
template <class Step>
CACHET_HOST_DEVICE inline void for_each_tap(const ConvolutionShape& s, int64_t row, int64_t column, const Step& step) {
  for (int64_t dy = -1; dy <= 1; ++dy)
    for (int64_t dx = -1; dx <= 1; ++dx)
      if (row + dy >= 0 && row + dy < s.height && column + dx >= 0 && column + dx < s.width)
        step(Tap{(dy + 1) * 3 + dx + 1, dy * s.width + dx});
}

/// Returns the index of the element packed[tap][j][c] in the flat array of packed weights.
CACHET_HOST_DEVICE inline int64_t packed_index(const ConvolutionShape& s, int64_t tap, int64_t j, int64_t c) {
  return (tap * s.group + j) * s.channels + c;
}

/// Returns channel c of the convolution of x at a position of the grid, without bias and addend.
template <class T>
CACHET_HOST_DEVICE inline float convolved(const T* x, const float* packed, const ConvolutionShape& s, int64_t row,
                                          int64_t column, int64_t c) {
  const int64_t place = (row * s.width + column) * s.channels;
  float sum = 0.0f;
  for_each_tap(s, row, column, [&](Tap tap) {
    for (int64_t j = 0; j < s.group; ++j)
      sum += to_float(x[place + tap.offset * s.channels + (c ^ j)]) * packed[packed_index(s, tap.number, j, c)];
  });
  return sum;
}

}  // namespace cachet::kernels
