#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Rows of attention scores: one dense row of `columns` keys for each of `rows` queries. T is float or BFloat16; all
// arithmetic is in float32.
struct SoftmaxShape {
  int64_t rows, columns;
};

/// Computes out = softmax(scale·scores + bias) along each row. The result of a row is 0 if all numbers of the row are
/// −∞, and NaN if one of its numbers is NaN or +∞. bias (rows, columns) or null. scratch: `columns` floats. out and
/// scores may be the same array.
template <class T>
void softmax_rows(const T* scores, const float* bias, float scale, T* out, float* scratch, SoftmaxShape shape);

/// Computes d_scores = scale·p(g − Σ g·p) from the weights p and their gradient g. If d_bias is not null, adds the
/// gradient p(g − Σ g·p) to d_bias. d_scores and grad may be the same array.
template <class T>
void softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_scores, float* d_bias,
                           SoftmaxShape shape);

// --- one element -----------------------------------------------------------------------------------------------------

/// Returns the gradient of an attention score before scaling. p: the softmax weight of the score; g: the gradient of p;
/// sum: Σ g·p over the row.
CACHET_HOST_DEVICE inline float softmax_gradient(float p, float g, float sum) { return p * (g - sum); }

}  // namespace cachet::kernels
