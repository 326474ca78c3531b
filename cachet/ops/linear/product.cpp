#include "cachet/ops/linear/product.h"

#include <ATen/core/List.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>

#include <string_view>

#include "cachet/kernels/transpose.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/processor.h"

namespace cachet::ops {
namespace {

using at::Tensor;

// ATen's operator for oneDNN's product with an epilogue: x, weight, bias, epilogue, its numbers, its algorithm.
// LibTorch's interface does not have it: where this LibTorch has none, or another, products are at::linear's.
using LinearPointwise = Tensor(const Tensor&, const Tensor&, const OptionalTensor&, std::string_view,
                               c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);

const auto& linear_pointwise() {
  static const auto found = find_cpu_operator<LinearPointwise>("mkldnn::_linear_pointwise");
  return found;
}

// ATen's operator that lays a weight out: the weight and the number of rows that it will meet, where that is known.
using ReorderWeight = Tensor(const Tensor&, std::optional<c10::SymInt>);

const auto& reorder_weight() {
  static const auto found = find_cpu_operator<ReorderWeight>("mkldnn::_reorder_linear_weight");
  return found;
}

// Whether oneDNN has kernels for products of this type here: those in bfloat16 need AVX-512.
bool has_onednn(at::ScalarType type) {
  return linear_pointwise().has_value() && (type == at::kFloat || (type == at::kBFloat16 && has_avx512()));
}

bool onednn_outruns_mkl() { return has_avx512() && !is_intel() && linear_pointwise().has_value(); }

bool makes_sense(const Tensor& x, const Tensor& weight) {
  return x.dim() >= 2 && x.numel() > 0 && weight.numel() > 0 && weight.scalar_type() == x.scalar_type();
}

// oneDNN reads bfloat16 in pairs, and with AMX in tiles of 32: after a shorter row what comes next too, times zero.
// Where rows lie apart that is another's, and may be NaN.
bool reads_beyond_rows(const Tensor& x) {
  constexpr int64_t kTile = 32;
  return x.scalar_type() == at::kBFloat16 && x.size(-1) % kTile != 0 && !x.is_contiguous();
}

Tensor onednn(const Tensor& x, const Tensor& weight, const OptionalTensor& bias, bool gelu) {
  const OptionalTensor shift = bias ? OptionalTensor(bias->to(x.scalar_type())) : std::nullopt;
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  // oneDNN has kernels for weights that lie dense, as they are or transposed, and for its own form; others it
  // multiplies number by number.
  const bool ready = is_packed(weight) || weight.is_contiguous() || weight.t().is_contiguous();
  return linear_pointwise()
      ->call(as_rows(x), ready ? weight : weight.contiguous(), shift, gelu ? "gelu" : "none",
             c10::List<std::optional<at::Scalar>>(), gelu ? std::optional<std::string_view>("none") : std::nullopt)
      .view(sizes);
}

// xᵀ, dense, of a float32 matrix. ATen's own copy of a transposed matrix takes two to three times as long.
Tensor transposed(const Tensor& matrix) {
  constexpr int64_t kRows = 64, kColumns = 32;  // of a piece: it stays in the nearest cache, read and written
  const Tensor x = matrix.stride(1) == 1 ? matrix : matrix.contiguous();
  const int64_t rows = x.size(0), columns = x.size(1), stride = x.stride(0);
  const Tensor out = at::empty({columns, rows}, x.options());
  parallel_chunks(columns, kColumns, rows, [&](int64_t, int64_t column, int64_t count) {
    for (int64_t row = 0; row < rows; row += kRows)
      kernels::transpose(data<float>(x) + row * stride + column, stride, mutable_data<float>(out) + column * rows + row,
                         rows, std::min(kRows, rows - row), count);
  });
  return out;
}

}  // namespace

Tensor packed_weight(const Tensor& weight) {
  const bool fits = weight.device().is_cpu() && weight.dim() == 2 && weight.numel() > 0;
  if (!fits || !reorder_weight() || !has_onednn(weight.scalar_type())) return weight;
  return reorder_weight()->call(weight.detach().contiguous(), std::nullopt);
}

Tensor unpacked_weight(const Tensor& weight) { return is_packed(weight) ? weight.to_dense() : weight; }

bool has_faster_product(const Tensor& x) {
  return x.scalar_type() == at::kFloat && tuned_for_cpu(x) && onednn_outruns_mkl();
}

Tensor linear_no_grad(const Tensor& x, const Tensor& weight, const OptionalTensor& bias) {
  if (is_packed(weight) || (has_faster_product(x) && makes_sense(x, weight))) return onednn(x, weight, bias, false);
  return at::linear(reads_beyond_rows(x) ? x.contiguous() : x, weight,
                    bias ? OptionalTensor(bias->to(weight.scalar_type())) : std::nullopt);
}

Tensor matmul_tn(const Tensor& a, const Tensor& b) {
  if (!has_faster_product(a) || !makes_sense(a.t(), b.t())) return at::mm(a.t(), b);
  // oneDNN reads its first operand row by row: let it be the narrower one, transposed beforehand.
  return a.size(1) <= b.size(1) ? linear_no_grad(transposed(a), b.contiguous().t())
                                : transposed(linear_no_grad(transposed(b), a.contiguous().t()));
}

Tensor product_gelu(const Tensor& x, const Tensor& weight, const OptionalTensor& bias) {
  if (is_packed(weight)) return onednn(x, weight, bias, true);
  const bool by_onednn =
      x.scalar_type() == at::kBFloat16 ? tuned_for_cpu(x) && has_onednn(at::kBFloat16) : has_faster_product(x);
  if (by_onednn && makes_sense(x, weight)) return onednn(x, weight, bias, true);
  return at::gelu(linear_no_grad(x, weight, bias));
}

}  // namespace cachet::ops
