#include "cachet/ops/block_product.h"

#include <ATen/native/CPUBlas.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include "cachet/kernels/transpose.h"
#include "cachet/ops/processor.h"

namespace cachet::ops {
namespace {

// ATen compiles a block product for each shape it meets. Sizes that vary are cut into whole steps, so that there are
// few shapes; at::mm takes the rest.
constexpr int64_t kStep = 32;

// ATen's block product is no part of its interface: where this LibTorch has none, or one with other arguments, products
// are at::mm's.
#ifdef CPUBLAS_BRGEMM_F32F32F32
template <class Float>
concept HasBlockProduct = requires(const Matrix& m, const Float* a, Float* out) {
  at::native::cpublas::brgemm(m.rows, m.columns, m.columns, m.row_stride, m.row_stride, m.row_stride, true, a, a, out);
};
#else
template <class Float>
concept HasBlockProduct = false;
#endif

bool has_block_products() { return HasBlockProduct<float> && has_avx512(); }

template <class Float>
void block_product(const Matrix& out, const Matrix& a, const Matrix& b, bool add, Float* data) {
#ifdef CPUBLAS_BRGEMM_F32F32F32
  if constexpr (HasBlockProduct<Float>)
    at::native::cpublas::brgemm(a.rows, b.columns, a.columns, a.row_stride, b.row_stride, out.row_stride, add,
                                static_cast<const Float*>(a.data), static_cast<const Float*>(b.data), data);
#endif
}

void aten_product(const Matrix& out, const Matrix& a, const Matrix& b, bool add) {
  const auto tensor = [](const Matrix& m) {
    return at::from_blob(m.data, {m.rows, m.columns}, {m.row_stride, m.column_stride}, at::kFloat);
  };
  at::Tensor result = tensor(out);
  if (add)
    at::addmm_out(result, result, tensor(a), tensor(b));
  else
    at::mm_out(result, tensor(a), tensor(b));
}

Matrix with_dense_rows(const Matrix& x, std::vector<float>& scratch) {
  if (x.column_stride == 1) return x;
  if (static_cast<int64_t>(scratch.size()) < x.rows * x.columns)
    scratch.resize(static_cast<size_t>(x.rows * x.columns));
  kernels::transpose(x.data, x.column_stride, scratch.data(), x.columns, x.columns, x.rows);
  return Matrix::dense(scratch.data(), x.rows, x.columns);
}

}  // namespace

void BlockProduct::operator()(const Matrix& out, const Matrix& a, const Matrix& b, bool add) {
  const int64_t step = sizes_ == Sizes::varying ? kStep : 1;
  const int64_t rows = a.rows / step * step, inner = a.columns / step * step;
  if (!has_block_products() || rows == 0 || inner == 0 || b.columns == 0) return aten_product(out, a, b, add);
  const Matrix left = with_dense_rows(a, transposed_a_), right = with_dense_rows(b, transposed_b_);
  const Matrix top = out.block_of_rows(0, rows), top_left = left.block_of_rows(0, rows);
  block_product(top, top_left.block_of_columns(0, inner), right.block_of_rows(0, inner), add, top.data);
  if (const int64_t rest = a.columns - inner; rest > 0)
    aten_product(top, top_left.block_of_columns(inner, rest), right.block_of_rows(inner, rest), true);
  if (const int64_t rest = a.rows - rows; rest > 0)
    aten_product(out.block_of_rows(rows, rest), left.block_of_rows(rows, rest), right, add);
}

}  // namespace cachet::ops
