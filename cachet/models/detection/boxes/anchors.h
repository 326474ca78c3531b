#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// Boxes that a head looks at from every cell of its maps (Faster R-CNN, arXiv 1506.01497, Sec. 3.1.1).
struct AnchorOptions {
  std::vector<int64_t> strides{4, 8, 16, 32, 64};  // pixels to a cell, one a level
  std::vector<double> ratios{0.5, 1.0, 2.0};       // height over width
  std::vector<double> scales{8.0};                 // of the stride: sides of an anchor of ratio 1

  int64_t per_cell() const { return static_cast<int64_t>(ratios.size() * scales.size()); }
  /// Scales base · 2^(i/count), i < count, of an octave (RetinaNet, arXiv 1708.02002, Sec. 4).
  static std::vector<double> octave(double base, int64_t count);

  /// Keys of the table `anchors`: ratios, scales, or octave_base_scale and scales_per_octave for these, and strides,
  /// which are optional and must equal those of `defaults`, the neck's.
  static AnchorOptions read(const config::View& table, AnchorOptions defaults);
};

/// Anchors of all levels, concatenated: levels in turn, then rows, columns, ratios, scales, the last fastest.
struct LaidAnchors {
  at::Tensor boxes;             // (n, 4)
  std::vector<int64_t> counts;  // of each level

  std::vector<at::Tensor> by_level(const at::Tensor& of_all) const;  // (n, …) in parts
};

/// The anchors of one cell at the origin of a level (per_cell, 4), float64.
at::Tensor cell_anchors(const AnchorOptions& options, size_t level);

/// The anchors of maps of these sizes, one for each level, on the device and in the dtype of `like`.
LaidAnchors lay_anchors(const AnchorOptions& options, const std::vector<ImageSize>& maps, const at::Tensor& like);

/// Rows of all that there are, evenly among them, so that at most `most` are left.
at::Tensor evenly(const at::Tensor& rows, int64_t most);

/// (n) bool: whether the cell of each anchor is in its image, and not in the padding of the batch.
at::Tensor anchors_of_image(const AnchorOptions& options, const std::vector<ImageSize>& maps, const ImageSize& padded,
                            c10::Device device);

/// (n) bool: whether anchors reach at most so many pixels beyond the image; below 0 all do.
at::Tensor anchors_inside(const at::Tensor& boxes, const ImageSize& image, int64_t allowed_border);

}  // namespace cachet::models
