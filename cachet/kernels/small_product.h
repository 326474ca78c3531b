#pragma once

#include <cstdint>

namespace cachet::kernels {

/// The left matrix of a product: element (i, j) is at data + i·row_stride + j·column_stride.
struct LeftMatrix {
  const float* data;
  int64_t row_stride, column_stride;
};

/// A matrix whose rows are contiguous. Neighbouring rows begin `stride` numbers apart.
template <class Number>
struct DenseRows {
  Number* data;
  int64_t stride;
};

struct ProductShape {
  int64_t rows, columns, inner;
};

/// Computes out (rows, columns) = left (rows, inner) · right (inner, columns), or adds the product to out if `add`.
/// small_gemm() does not repack the float32 matrices, so they should fit in a core's caches. out must not be an input.
void small_gemm(const LeftMatrix& left, const DenseRows<const float>& right, const DenseRows<float>& out, bool add,
                const ProductShape& shape);

}  // namespace cachet::kernels
