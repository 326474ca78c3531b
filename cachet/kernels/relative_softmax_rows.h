#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Rows of relative attention: a row of `columns` keys for each of `rows` queries, columns >= rows. The last key belongs
// to the token of the last query. T is float or BFloat16; all arithmetic is in float32.
struct RelativeSoftmaxShape {
  int64_t rows, columns;
};

/// Computes out = softmax(scale·(content + shifted position)) along each row, over the keys that are not hidden. The
/// result of a row is 0 if all keys of the row are hidden, and NaN if one of the row's numbers is NaN or +∞.
///
/// Column c of `position` has the scores of the distance columns − 1 − c, in tokens: the first column has the scores of
/// the largest distance. The shift gives key j of row i the score of the distance between query i and key j:
/// position[i][j + rows − 1 − i]. For keys after the query, the shift follows Appendix B of Dai et al. (arXiv
/// 1901.02860), which puts a column of zeros before the matrix and reshapes the result. The first key after the query
/// gets 0, and the keys after that key get the numbers of the next row of `position`, from its first column on. hidden
/// (rows, columns) is 0 or 1 for each key, or null. scratch: `columns` floats. out and content may be the same.
template <class T>
void relative_softmax_rows(const T* content, const T* position, const uint8_t* hidden, float scale, T* out,
                           float* scratch, RelativeSoftmaxShape shape);

/// Computes d_content = scale·p(g − Σ g·p) from the weights p and their gradient g, and d_position by reversing the
/// shift of d_content. d_content and grad may be the same array.
template <class T>
void relative_softmax_rows_backward(const T* weights, const T* grad, float scale, T* d_content, T* d_position,
                                    RelativeSoftmaxShape shape);

// --- one element -----------------------------------------------------------------------------------------------------

/// Returns the flat index, in the array `position`, of the number that the shift moves to (row, column). Returns −1 if
/// the shift moves a zero of the inserted column to (row, column).
CACHET_HOST_DEVICE inline int64_t shifted_from(int64_t row, int64_t column, RelativeSoftmaxShape shape) {
  const int64_t place = row * shape.columns + column + shape.rows;
  const int64_t from_row = place / (shape.columns + 1), from_column = place % (shape.columns + 1);
  return from_column == 0 ? -1 : from_row * shape.columns + from_column - 1;
}

}  // namespace cachet::kernels
