#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cachet/config/view.h"

namespace cachet::nn {

/// A stress test: in training, now and then, some rows of a tensor are far larger than the others. What a norm makes of
/// that is what the outlier filter of unified normalization is for (arXiv 2208.01313, Eq. 18–19).
struct OutlierOptions {
  double probability = 0.0;  // that a pass meets them; 0: never
  double share = 0.1;        // of the rows, each drawn by itself
  double scale = 100.0;      // what those rows are multiplied by
};

/// Reads a table `outliers`: probability, share, scale.
OutlierOptions read_outlier_options(const config::View& table);

/// x with outliers or, where the pass meets none, x itself. Its first `row_dimensions` dimensions count rows: 1 for
/// images (B, C, H, W), 2 for tokens (B, T, D). Draws from torch's generator of the CPU, unless the probability is 0.
at::Tensor with_outliers(const at::Tensor& x, int64_t row_dimensions, const OutlierOptions& options);

}  // namespace cachet::nn
