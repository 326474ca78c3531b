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

bool has_block_products() {
#ifdef CPUBLAS_BRGEMM_F32F32F32
  return has_avx512();
#else
  return false;
#endif
}

void block_product([[maybe_unused]] const Matrix& out, [[maybe_unused]] const Matrix& a,
                   [[maybe_unused]] const Matrix& b, [[maybe_unused]] bool add) {
#ifdef CPUBLAS_BRGEMM_F32F32F32
  at::native::cpublas::brgemm(a.rows, b.columns, a.columns, a.row_stride, b.row_stride, out.row_stride, add, a.data,
                              b.data, out.data);
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
  block_product(top, top_left.block_of_columns(0, inner), right.block_of_rows(0, inner), add);
  if (const int64_t rest = a.columns - inner; rest > 0)
    aten_product(top, top_left.block_of_columns(inner, rest), right.block_of_rows(inner, rest), true);
  if (const int64_t rest = a.rows - rows; rest > 0)
    aten_product(out.block_of_rows(rows, rest), left.block_of_rows(rows, rest), right, add);
}

}  // namespace cachet::ops
