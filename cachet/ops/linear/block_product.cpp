#include "cachet/ops/linear/block_product.h"

#include "cachet/kernels/small_product.h"
#include "cachet/kernels/transpose.h"

namespace cachet::ops {

void BlockProduct::operator()(const Matrix& out, const Matrix& a, const Matrix& b, bool add) {
  const float* right = b.data;
  int64_t stride = b.row_stride;
  if (b.column_stride != 1) {
    stride = b.columns;
    transposed_.resize(std::max(transposed_.size(), static_cast<size_t>(b.rows * b.columns)));
    kernels::transpose(b.data, b.column_stride, transposed_.data(), stride, b.columns, b.rows);
    right = transposed_.data();
  }
  kernels::small_gemm({a.data, a.row_stride, a.column_stride}, {right, stride}, {out.data, out.row_stride}, add,
                      {a.rows, b.columns, a.columns});
}

}  // namespace cachet::ops
