#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cachet/kernels/attention_rows.h"
#include "cachet/kernels/transpose.h"
#include "cachet/ops/attention/block_features.h"
#include "cachet/ops/attention/head_rows.h"
#include "cachet/ops/attention/kernel_attention_cpu.h"
#include "cachet/ops/linear/block_product.h"

namespace cachet::ops {

// The feature map φ processes kBlock rows at once. In each kInner rows, causal attention computes all query–key pairs.
inline constexpr int64_t kBlock = 256, kInner = 64;

inline int64_t rounded_up(int64_t count, int64_t step) { return (count + step - 1) / step * step; }

/// The sizes of the operands of a call, which are the same for all heads, and the number of rows of a block.
struct KernelBlocks {
  explicit KernelBlocks(const KernelAttentionCall& call)
      : heads(call.q.size(1)),
        tasks(call.q.size(0) * heads),
        queries(call.q.size(2)),
        keys(call.k.size(2)),
        width(call.v.size(3)),
        features(call.features()),
        block(std::min(kBlock, rounded_up(std::max<int64_t>(1, std::max(queries, keys)), kInner))) {}

  template <class Body>
  void for_each(int64_t length, const Body& body) const {
    for (int64_t first = 0; first < length; first += block) body(BlockRows{first, std::min(block, length - first)});
  }

  int64_t heads, tasks, queries, keys, width, features, block;
};

/// The operands of one head.
template <class T>
struct KernelHead {
  KernelHead(const KernelAttentionCall& call, const KernelBlocks& blocks, int64_t task)
      : number(task % blocks.heads),
        q(one_head<T>(call.q, task)),
        k(one_head<T>(call.k, task)),
        v(one_head<T>(call.v, task)),
        padding(call.padding.defined() ? call.padding.const_data_ptr<bool>() + task / blocks.heads * blocks.keys
                                       : nullptr) {}
  const bool* padding_of(BlockRows rows) const { return padding ? padding + rows.first : nullptr; }

  int64_t number;
  HeadRows<T> q, k, v;
  const bool* padding;
};

/// A matrix in memory that one thread uses again for each of its blocks.
class RowBuffer {
 public:
  RowBuffer(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), data_(static_cast<size_t>(rows * columns)) {}
  float* data() { return data_.data(); }
  Matrix matrix() { return Matrix::dense(data(), rows_, columns_); }
  Matrix rows(int64_t first, int64_t count) { return matrix().block_of_rows(first, count); }
  /// Writes the transpose of `from`. The rows of `from` are dense.
  void transpose(const Matrix& from) {
    kernels::transpose(from.data, from.row_stride, data(), columns_, from.rows, from.columns);
  }
  void clear_from(int64_t row) { std::fill(data_.begin() + static_cast<ptrdiff_t>(row * columns_), data_.end(), 0.0f); }

 private:
  int64_t rows_, columns_;
  std::vector<float> data_;
};

inline kernels::ValueRows shape_of(const Matrix& m) { return {m.rows, m.columns, m.row_stride}; }

/// Loads the values v of a block and a column of ones, [v, 1]. The rows for padding, and the rows after the last row of
/// the block, are zero.
template <class T>
void load_values(const KernelHead<T>& head, BlockRows rows, RowBuffer& with_ones) {
  const HeadRows<T> v = head.v.block(rows);
  kernels::append_ones(v.data, head.padding_of(rows), with_ones.data(), {rows.count, v.columns, v.stride});
  with_ones.clear_from(rows.count);
}

// Each row of the sums Σ [v, 1]φ(k)ᵀ is contiguous and has one number for each feature; the last row has the
// denominators of attention. The denominators are a row, because an additional row costs little in a matrix product,
// and an additional column would cost as much as sixteen columns.
inline Matrix numerators(const Matrix& sums) { return sums.block_of_rows(0, sums.rows - 1); }
inline const float* denominators(const Matrix& sums) { return sums.data + (sums.rows - 1) * sums.row_stride; }

/// For each kInner rows of a block, the sums Σ [v, 1]φ(k)ᵀ of all earlier rows, or their gradients from all later rows.
class InnerSums {
 public:
  explicit InnerSums(const KernelBlocks& blocks)
      : count_(blocks.block / kInner),
        rows_(blocks.width + 1),
        features_(blocks.features),
        sums_(count_ * rows_, features_) {}

  Matrix operator[](int64_t i) { return sums_.rows(i * rows_, rows_); }

  /// Sets sum i to `state` + Σ left(j)ᵀ·right(j) over all j < i. Afterwards, `state` includes all j.
  template <class Left, class Right>
  void before(BlockProduct& product, Matrix state, const Left& left, const Right& right) {
    for (int64_t i = 0; i < count_; ++i) step(product, state, i, left, right);
  }
  /// Sets sum i to `state` + Σ left(j)ᵀ·right(j) over all j > i. Afterwards, `state` includes all j.
  template <class Left, class Right>
  void behind(BlockProduct& product, Matrix state, const Left& left, const Right& right) {
    for (int64_t i = count_; i-- > 0;) step(product, state, i, left, right);
  }

 private:
  template <class Left, class Right>
  void step(BlockProduct& product, Matrix state, int64_t i, const Left& left, const Right& right) {
    std::copy_n(state.data, rows_ * features_, (*this)[i].data);
    product(state, left(i).t(), right(i), /*add=*/true);
  }

  int64_t count_, rows_, features_;
  RowBuffer sums_;
};

}  // namespace cachet::ops
