#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace cachet::analysis {

/// Linear centred kernel alignment of two representations of the same examples (Kornblith et al., arXiv 1905.00414):
///   ‖Ycᵀ Xc‖² / (‖Xcᵀ Xc‖ ‖Ycᵀ Yc‖)   with columns centred; 1 where one is the other, rotated and scaled
/// x, y: (examples, …), the rest flattened. Computed in float64. Throws c10::Error unless both have as many examples,
/// two at least. NaN where one is the same for all examples.
double linear_cka(const at::Tensor& x, const at::Tensor& y);

/// Alignment of every layer of one model with every layer of another over batches that need not fit in memory together
/// (Nguyen et al., arXiv 2010.15327, Eq. 3 and 4): the unbiased estimates HSIC₁ of Song et al. (2012) are averaged over
/// batches before the quotient is taken. One batch of all examples gives the unbiased alignment of these.
class MinibatchCka {
 public:
  /// How many layers the rows and the columns of similarity() are.
  MinibatchCka(int64_t rows, int64_t columns);

  /// The representations of a batch, (examples, …) each, more than three examples, as many in every batch. Throws
  /// c10::Error otherwise.
  void add(std::span<const at::Tensor> rows, std::span<const at::Tensor> columns);

  int64_t batches() const { return batches_; }

  /// (rows, columns) in float64. NaN where a layer gives the same for all examples. Throws c10::Error before a batch.
  at::Tensor similarity() const;

 private:
  int64_t batches_ = 0, examples_ = 0;
  at::Tensor both_, of_rows_, of_columns_;  // sums over batches of HSIC₁: (rows, columns), (rows), (columns)
};

}  // namespace cachet::analysis
