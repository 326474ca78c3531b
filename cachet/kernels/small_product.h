#pragma once

#include <cstdint>

namespace cachet::kernels {

/// The left matrix of a product: element (i, j) lies i·row_stride + j·column_stride numbers after data.
struct LeftMatrix {
  const float* data;
  int64_t row_stride, column_stride;
};

/// A matrix whose rows are dense and lie `stride` numbers apart.
template <class Number>
struct DenseRows {
  Number* data;
  int64_t stride;
};

struct ProductShape {
  int64_t rows, columns, inner;
};

/// Computes out (rows, columns) = left (rows, inner) · right (inner, columns), or += if `add`. The float32 matrices
/// should fit into a core's caches, because they are not packed for faster reading. out must be neither of the inputs.
void small_gemm(const LeftMatrix& left, const DenseRows<const float>& right, const DenseRows<float>& out, bool add,
                const ProductShape& shape);

}  // namespace cachet::kernels
