#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Rows of relative attention: a row for each of `rows` queries with `columns` >= `rows` keys. The last key is the last
// query's own token. T is float or BFloat16; all arithmetic is float32.
struct RelativeSoftmaxShape {
  int64_t rows, columns;
};

/// Computes out = softmax(scale·(content + shifted position)) along each row over the keys that are not hidden. A row
/// is 0 if all its keys are hidden, and NaN if a number in it is NaN or +∞.
///
/// Column c of `position` has the scores of the distance columns − 1 − c, in tokens; the first column has the farthest.
/// The shift gives row i, at key j, the score of the distance between query i and key j: position[i][j + rows − 1 − i].
/// Keys ahead of the query get the numbers that result if a column of zeros is put before the matrix and the result is
/// reshaped (Dai et al., arXiv 1901.02860, App. B): 0 for the next key, then the following row's numbers from the left.
/// hidden (rows, columns) holds 0 or 1, or is null. scratch: `columns` floats. out may be content.
template <class T>
void relative_softmax_rows(const T* content, const T* position, const uint8_t* hidden, float scale, T* out,
                           float* scratch, RelativeSoftmaxShape shape);

/// Computes d_content = scale·p(g − Σ g·p) from weights p and their gradient g, and d_position, which is d_content with
/// the shift undone. d_content may be grad.
template <class T>
void relative_softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_content, T* d_position,
                                    RelativeSoftmaxShape shape);

// --- one element -----------------------------------------------------------------------------------------------------

/// Returns the flat index in `position` of the number that the shift moves to (row, column), or −1 for one of the zeros
/// in the column that is put before the matrix.
CACHET_HOST_DEVICE inline int64_t shifted_from(int64_t row, int64_t column, RelativeSoftmaxShape shape) {
  const int64_t place = row * shape.columns + column + shape.rows;
  const int64_t from_row = place / (shape.columns + 1), from_column = place % (shape.columns + 1);
  return from_column == 0 ? -1 : from_row * shape.columns + from_column - 1;
}

}  // namespace cachet::kernels
