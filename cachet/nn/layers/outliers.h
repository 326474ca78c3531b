#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cachet/config/view.h"

namespace cachet::nn {

/// Options of a stress test with outliers: in some training passes, some rows of a tensor are far larger than all other
/// rows. The outlier filter of unified normalization (arXiv 2208.01313, Eq. 18–19) is intended for tensors with
/// outliers.
struct OutlierOptions {
  double probability = 0.0;  // probability that a pass has outliers; 0: never
  double share = 0.1;        // fraction of the rows that become outliers; rows are drawn independently
  double scale = 100.0;      // factor by which outlier rows are multiplied
};

/// Reads the keys probability, share and scale of a table `outliers`.
OutlierOptions read_outlier_options(const config::View& table);

/// Returns x with outliers, or x itself if this forward pass has no outliers. The first `row_dimensions` dimensions
/// count rows: 1 for images (B, C, H, W), 2 for tokens (B, T, D). If options.probability is above 0, uses random
/// numbers from torch's CPU generator.
at::Tensor with_outliers(const at::Tensor& x, int64_t row_dimensions, const OutlierOptions& options);

}  // namespace cachet::nn
