#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Rows of relative attention: the `columns` keys of each of `rows` queries, the last of which is the last query's own
// token: columns >= rows. T is float or BFloat16; all arithmetic is float32.
struct RelativeSoftmaxShape {
  int64_t rows, columns;
};

/// out = softmax(scale·(content + shifted position)) along each row over the keys that are not hidden, 0 where all are;
/// NaN where a number of it is NaN or +∞.
///
/// Column c of `position` is the score of the c-th farthest distance, columns − 1 − c tokens. Shifted, row i has at key
/// j the score of its own distance, position[i][j + rows − 1 − i]. Keys ahead of the query have what is left when a
/// column of zeros is put before the matrix and its numbers are dealt out anew (Dai et al., arXiv 1901.02860, App. B):
/// 0 for the next key, then the next row's from the left.
/// hidden (rows, columns), 0 or 1, or null; scratch of `columns` floats. out may be content.
template <class T>
void relative_softmax_rows(const T* content, const T* position, const uint8_t* hidden, float scale, T* out,
                           float* scratch, RelativeSoftmaxShape shape);

/// From weights p and their gradient g: d_content = scale·p(g − Σ g·p), and d_position, that with the shift undone.
/// d_content may be grad.
template <class T>
void relative_softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_content, T* d_position,
                                    RelativeSoftmaxShape shape);

// --- one element -----------------------------------------------------------------------------------------------------

/// Where in `position` the shift takes the number at (row, column) from: its position in the matrix with a column of
/// zeros before it, counted through. −1 for one of the zeros.
CACHET_HOST_DEVICE inline int64_t shifted_from(int64_t row, int64_t column, RelativeSoftmaxShape shape) {
  const int64_t place = row * shape.columns + column + shape.rows;
  const int64_t from_row = place / (shape.columns + 1), from_column = place % (shape.columns + 1);
  return from_column == 0 ? -1 : from_row * shape.columns + from_column - 1;
}

}  // namespace cachet::kernels
