#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "cachet/ops/attention/head_rows.h"
#include "cachet/ops/linear/block_product.h"

namespace cachet::ops {

/// Returns the width of φ(x) for an x of width `width`. ops/attention/kernel_attention.h explains weights and units.
int64_t features_of(int64_t width, at::TensorList weights, at::IntArrayRef units);

/// Computes a feature map on a block of rows of one head, and stores the inputs of the backward pass. All arithmetic is
/// in float32. Use one object for each thread, because all computations of an object share its buffers.
class BlockFeatures {
 public:
  /// weights: float32, dense. width: width of x. block: the maximum number of rows for each call of compute().
  BlockFeatures(const std::vector<at::Tensor>& weights, const std::vector<int64_t>& units, int64_t width, int64_t block,
                int64_t features);

  /// Returns the features φ (block, m) of the rows `rows` of x (L, n) for the head `head`. The result is zero at
  /// padding and in all rows after the first rows.count. The result is valid until the next call of compute().
  template <class T>
  Matrix compute(const HeadRows<T>& x, int64_t head, BlockRows rows, const bool* padding) {
    const HeadRows<T> own = x.block(rows);
    // Values at padding may be NaN, so computations replace them by zeros.
    input_ = padding ? copied_rows(own, x_) : float_rows(own, x_);
    for (int64_t row = 0; padding && row < rows.count; ++row)
      if (padding[row]) std::fill_n(input_.data + row * input_.row_stride, input_.columns, 0.0f);
    rows_ = rows;
    head_ = head;
    return compute(padding);
  }

  /// `d_features` is the gradient (block, m) of the features that the last call of compute() returned. Writes the
  /// gradient of x (L, n), and adds the gradient of each weight to d_weights[i] (n_in, n_out).
  template <class T>
  void backward(const Matrix& d_features, const HeadRows<T>& d_x, const std::vector<Matrix>& d_weights) {
    const HeadRows<T> own = d_x.block(rows_);
    if (units_.empty()) return store_rows(d_features, own);
    const Matrix made = made_rows(own, d_x_);
    backward(d_features, d_weights, made);
    store_rows(made, own);
  }

 private:
  Matrix compute(const bool* padding);
  void backward(const Matrix& d_features, const std::vector<Matrix>& d_weights, const Matrix& d_x);
  Matrix weight(size_t i) const;

  const std::vector<at::Tensor>& weights_;
  const std::vector<int64_t>& units_;
  int64_t features_, block_, head_ = 0;
  BlockRows rows_{};
  Matrix input_{};
  // The inputs of the feature map's layers, the products of the layers, and the gradients of the products.
  std::vector<Matrix> inputs_, products_, d_products_;
  std::vector<std::vector<float>> numbers_;
  std::vector<float> x_, d_x_, wide_, d_input_;
  BlockProduct product_;
};

}  // namespace cachet::ops
