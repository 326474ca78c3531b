#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// The anchor boxes that a head examines at each cell of its maps (Faster R-CNN, arXiv 1506.01497, Sec. 3.1.1).
struct AnchorOptions {
  std::vector<int64_t> strides{4, 8, 16, 32, 64};  // pixels per cell, one stride for each level
  std::vector<double> ratios{0.5, 1.0, 2.0};       // height ÷ width
  std::vector<double> scales{8.0};                 // side of an anchor of ratio 1, in units of the stride

  int64_t per_cell() const { return static_cast<int64_t>(ratios.size() * scales.size()); }
  /// Returns the scales of an octave, base · 2^(i/count) for i < count (RetinaNet, arXiv 1708.02002, Sec. 4).
  static std::vector<double> octave(double base, int64_t count);

  /// Reads the keys of the table `anchors`: ratios, strides, and either scales or octave_base_scale with
  /// scales_per_octave. Strides are optional. If the table has strides, they must equal the strides of `defaults`,
  /// which are the neck's strides.
  static AnchorOptions read(const config::View& table, AnchorOptions defaults);
};

/// The anchors of all levels, concatenated in the order level, row, column, ratio, scale (the scale varies fastest).
struct LaidAnchors {
  at::Tensor boxes;             // (n, 4)
  std::vector<int64_t> counts;  // number of anchors of each level

  std::vector<at::Tensor> by_level(const at::Tensor& of_all) const;  // splits a tensor (n, …) by level
};

/// Returns the anchors (per_cell, 4) of the cell at the origin of a level, in float64.
at::Tensor cell_anchors(const AnchorOptions& options, size_t level);

/// Returns the anchors of maps with the sizes `maps` (one map for each level), on the device and in the dtype of
/// `like`.
LaidAnchors lay_anchors(const AnchorOptions& options, const std::vector<ImageSize>& maps, const at::Tensor& like);

/// Returns at most `most` of the rows of the tensor `rows`, evenly spaced.
at::Tensor evenly(const at::Tensor& rows, int64_t most);

/// Returns (n) bool: whether the cell of each anchor lies in its image and not in the padding of the batch.
at::Tensor anchors_of_image(const AnchorOptions& options, const std::vector<ImageSize>& maps, const ImageSize& padded,
                            c10::Device device);

/// Returns (n) bool: whether an anchor extends at most `allowed_border` pixels beyond the image. If `allowed_border` is
/// below 0, the result is true for all anchors.
at::Tensor anchors_inside(const at::Tensor& boxes, const ImageSize& image, int64_t allowed_border);

}  // namespace cachet::models
