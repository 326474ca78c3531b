#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "cachet/ops/block_product.h"

namespace cachet::ops {

/// Rows of one head: [first, first + count) of its sequence.
struct BlockRows {
  int64_t first, count;
};

/// The width of φ(x) for x of this width (ops/kernel_attention.h has weights and units).
int64_t features_of(int64_t width, at::TensorList weights, at::IntArrayRef units);

/// A feature map on a block of rows of one head, and what its backward pass needs of them. T is float or BFloat16, the
/// type of x and of the weights; features are float32. One object a thread: buffers are reused from block to block.
template <class T>
class BlockFeatures {
 public:
  /// like: (B, H, L, n), what x are heads of. block: the most rows at once.
  BlockFeatures(const std::vector<at::Tensor>& weights, const std::vector<int64_t>& units, const at::Tensor& like,
                int64_t block, int64_t features);

  /// φ of rows of x (L, n), the given head's: (block, m), zero behind rows.count and where padding, of these rows, is
  /// true. Valid until the next call.
  Matrix compute(const at::Tensor& x, int64_t head, BlockRows rows, const bool* padding);

  /// From the gradient of the rows last computed, (block, m): writes that of x (L, n), adds that of each weight to
  /// d_weights[i] (n_in, n_out) of float32.
  void backward(const float* d_features, const at::Tensor& d_x, const std::vector<at::Tensor>& d_weights);

 private:
  void multiply(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b);
  void add_product(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b);
  at::Tensor weight(size_t i) const;
  at::Tensor without_padding(const at::Tensor& x, const bool* padding);

  const std::vector<at::Tensor>& weights_;
  const std::vector<int64_t>& units_;
  int64_t features_;
  // Of each layer: what goes in, its product, and that one's gradient.
  std::vector<at::Tensor> inputs_, products_, d_products_;
  at::Tensor d_input_, input_;
  std::vector<float> wide_;
  BlockProduct product_;
  BlockRows rows_{};
  int64_t head_ = 0, block_;
};

}  // namespace cachet::ops
