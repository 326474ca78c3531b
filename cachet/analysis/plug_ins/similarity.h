#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace cachet::analysis {

/// Returns the linear centred kernel alignment of two representations (Kornblith et al., arXiv 1905.00414):
///   ‖Ycᵀ Xc‖² / (‖Xcᵀ Xc‖ ‖Ycᵀ Yc‖), with centred columns. The result is 1 if x is y, rotated and scaled.
/// `x` and `y` are (examples, …) of the same examples; all other dimensions are flattened. Computed in float64. Throws
/// c10::Error unless x and y have the same number of examples, at least two. If x or y has equal values for all
/// examples, returns NaN.
double linear_cka(const at::Tensor& x, const at::Tensor& y);

/// Alignment of every layer of one model with every layer of another, over batches that need not fit in memory together
/// (Nguyen et al., arXiv 2010.15327, Eq. 3 and 4). CKA is a quotient of HSIC values, each the mean over batches of the
/// unbiased HSIC₁ of Song et al. (2012). A single batch of all examples gives the unbiased alignment.
class MinibatchCka {
 public:
  /// `rows`, `columns`: the numbers of layers that form the rows and the columns of similarity().
  MinibatchCka(int64_t rows, int64_t columns);

  /// Adds the outputs of all layers for a batch, each (examples, …). Throws c10::Error if a batch has fewer than four
  /// examples, or another number of examples than the first batch.
  void add(std::span<const at::Tensor> rows, std::span<const at::Tensor> columns);

  int64_t batches() const { return batches_; }

  /// Returns the CKAs (rows, columns) in float64, NaN for a constant layer. Throws c10::Error if no batch was added.
  at::Tensor similarity() const;

 private:
  int64_t batches_ = 0, examples_ = 0;
  at::Tensor both_, of_rows_, of_columns_;  // sums over batches of HSIC₁: (rows, columns), (rows), (columns)
};

}  // namespace cachet::analysis
