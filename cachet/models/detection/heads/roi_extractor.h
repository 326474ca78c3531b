#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::models {

/// How boxes are cut out of a pyramid.
struct RoiExtractorOptions {
  int64_t side = 7;                            // bins
  int64_t sampling = 0;                        // as ops::RoiAlignOptions
  std::vector<int64_t> strides{4, 8, 16, 32};  // of the levels that take part, the finest first
  double finest_scale = 56;                    // boxes with sides below twice this are cut out of the finest level

  /// Keys of a table, as mmdetection has them: output_size, sampling_ratio, featmap_strides, finest_scale.
  static RoiExtractorOptions read(const config::View& table, RoiExtractorOptions defaults);
};

/// (n) int64: the level of each of the boxes (n, 4) (FPN, arXiv 1612.03144, Eq. 1): ⌊log₂(√area / finest_scale)⌋ within
/// the levels.
at::Tensor roi_levels(const at::Tensor& boxes, const RoiExtractorOptions& options);

/// levels (B, C, H, W) each, at least as many as there are strides; boxes (n, 5), the image first -> (n, C, side,
/// side), in channels_last.
at::Tensor extract_rois(const std::vector<at::Tensor>& levels, const at::Tensor& boxes,
                        const RoiExtractorOptions& options);

}  // namespace cachet::models
