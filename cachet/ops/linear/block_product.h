#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cachet::ops {

/// A float32 matrix view: element (i, j) is at data + i·row_stride + j·column_stride. row_stride or column_stride is 1.
struct Matrix {
  float* data;
  int64_t rows, columns, row_stride, column_stride;

  static Matrix dense(float* data, int64_t rows, int64_t columns) { return {data, rows, columns, columns, 1}; }
  Matrix t() const { return {data, columns, rows, column_stride, row_stride}; }
  Matrix block_of_rows(int64_t first, int64_t count) const {
    return {data + first * row_stride, count, columns, row_stride, column_stride};
  }
  Matrix block_of_columns(int64_t first, int64_t count) const {
    return {data + first * column_stride, rows, count, row_stride, column_stride};
  }
};

/// Computes products of small float32 matrices that fit in a core's caches, on the calling thread. Each thread needs
/// its own BlockProduct, because the object has scratch memory.
class BlockProduct {
 public:
  /// Computes out (M, N) = a (M, K) · b (K, N); if `add` is true, adds the product to out. out is row-major.
  void operator()(const Matrix& out, const Matrix& a, const Matrix& b, bool add = false);

 private:
  std::vector<float> transposed_;
};

}  // namespace cachet::ops
