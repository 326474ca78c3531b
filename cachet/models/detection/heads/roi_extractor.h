#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::models {

/// The options by which regions are extracted from a feature pyramid.
struct RoiExtractorOptions {
  int64_t side = 7;                            // bins along each side
  int64_t sampling = 0;                        // value of ops::RoiAlignOptions::sampling
  std::vector<int64_t> strides{4, 8, 16, 32};  // strides of the levels that take part, the finest first
  double finest_scale = 56;                    // boxes with √area below twice this use the finest level

  /// Reads mmdetection's keys: output_size, sampling_ratio, featmap_strides, finest_scale.
  static RoiExtractorOptions read(const config::View& table, RoiExtractorOptions defaults);
};

/// Returns (n) int64, the level of each box (n, 4): ⌊log₂(√area / finest_scale)⌋, clamped to the existing levels (FPN,
/// arXiv 1612.03144, Eq. 1).
at::Tensor roi_levels(const at::Tensor& boxes, const RoiExtractorOptions& options);

/// levels: (B, C, H, W) each, at least as many as strides; boxes (n, 5), with the image's index first ->
/// (n, C, side, side), in channels_last.
at::Tensor extract_rois(const std::vector<at::Tensor>& levels, const at::Tensor& boxes,
                        const RoiExtractorOptions& options);

}  // namespace cachet::models
