#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

// Rows of attention: `columns` keys for each of `rows` queries, row behind row. T is float or BFloat16; all arithmetic
// is float32.
struct SoftmaxShape {
  int64_t rows, columns;
};

/// out = softmax(scale·scores + bias) along each row, 0 where all of a row is −∞, NaN where a number of it is NaN or
/// +∞. bias (rows, columns) or null; scratch of `columns` floats. out may be scores.
template <class T>
void softmax_rows(const T* scores, const float* bias, float scale, T* out, float* scratch, SoftmaxShape shape);

/// From weights p and their gradient g: d_scores = scale·p(g − Σ g·p), and d_bias += p(g − Σ g·p) unless null.
/// d_scores may be grad.
template <class T>
void softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_scores, float* d_bias,
                           SoftmaxShape shape);

namespace scalar {

// The same, one element at a time: what the kernels above are tested against.
template <class T>
void softmax_rows(const T* scores, const float* bias, float scale, T* out, float* scratch, SoftmaxShape shape);
template <class T>
void softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_scores, float* d_bias,
                           SoftmaxShape shape);

}  // namespace scalar
}  // namespace cachet::kernels
