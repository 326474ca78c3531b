#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "cachet/ops/linear/block_product.h"
#include "cachet/ops/support/fused.h"

namespace cachet::ops {

/// The rows [first, first + count) of one head's sequence.
struct BlockRows {
  int64_t first, count;
};

/// A head (L, n) of a tensor (B, H, L, n) of float or BFloat16. The numbers of a row are contiguous. Neighbouring rows
/// begin `stride` numbers apart.
template <class T>
struct HeadRows {
  T* data;
  int64_t rows, columns, stride;

  HeadRows block(BlockRows of) const { return {data + of.first * stride, of.count, columns, stride}; }
  Matrix in_place() const requires std::is_same_v<T, float> { return {data, rows, columns, stride, 1}; }
};

/// Returns the rows of the head with index task % H in the sample with index task / H. Only store_rows() and callers of
/// made_rows() may write to the returned rows.
template <class T>
HeadRows<T> one_head(const at::Tensor& x, int64_t task) {
  const int64_t place = task / x.size(1) * x.stride(0) + task % x.size(1) * x.stride(1);
  return {const_cast<T*>(data<T>(x)) + place, x.size(2), x.size(3), x.stride(2)};
}

inline Matrix scratch_rows(std::vector<float>& scratch, int64_t rows, int64_t columns) {
  scratch.resize(std::max(scratch.size(), static_cast<size_t>(rows * columns)));
  return Matrix::dense(scratch.data(), rows, columns);
}

/// Copies the rows to `scratch` as float32, and returns the copy.
template <class T>
Matrix copied_rows(const HeadRows<T>& head, std::vector<float>& scratch) {
  const Matrix rows = scratch_rows(scratch, head.rows, head.columns);
  for (int64_t row = 0; row < head.rows; ++row)
    std::transform(head.data + row * head.stride, head.data + row * head.stride + head.columns,
                   rows.data + row * head.columns, [](T x) { return kernels::to_float(x); });
  return rows;
}

/// Returns the rows as float32, for reading: the rows themselves, or a copy of the rows in `scratch`.
template <class T>
Matrix float_rows(const HeadRows<T>& head, std::vector<float>& scratch) {
  if constexpr (std::is_same_v<T, float>)
    return head.in_place();
  else
    return copied_rows(head, scratch);
}

/// Returns memory in which the caller computes new float32 rows. store_rows() later stores the rows in the tensor. The
/// returned memory is part of `head` if T is float, and otherwise part of `scratch`.
template <class T>
Matrix made_rows(const HeadRows<T>& head, std::vector<float>& scratch) {
  if constexpr (std::is_same_v<T, float>)
    return head.in_place();
  else
    return scratch_rows(scratch, head.rows, head.columns);
}

template <class T>
void store_rows(const Matrix& from, const HeadRows<T>& head) {
  if constexpr (std::is_same_v<T, float>)
    if (from.data == head.data) return;
  for (int64_t row = 0; row < head.rows; ++row) {
    const float* source = from.data + row * from.row_stride;
    std::transform(source, source + head.columns, head.data + row * head.stride, kernels::from_float<T>);
  }
}

}  // namespace cachet::ops
