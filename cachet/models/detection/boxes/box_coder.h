#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

#include "cachet/config/view.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// The encoding of a box relative to a nearby box: the shift of the centre in units of the sides, and the logarithms
/// of the sides' ratios. The encoding is normalised as (encoding − means)/deviations (R-CNN, arXiv 1311.2524,
/// Appendix C).
struct BoxCoderOptions {
  std::array<double, 4> means{0, 0, 0, 0}, deviations{1, 1, 1, 1};
  double ratio_clip = 16.0 / 1000.0;  // minimum ratio of a decoded side to the box's side; the maximum is 1/ratio_clip
  bool clip_to_image = true;          // whether decoded boxes are cut off at the image's border

  /// Reads the keys of the table `coder`: target_means, target_stds, ratio_clip, clip_border.
  static BoxCoderOptions read(const config::View& table, BoxCoderOptions defaults);
};

class BoxCoder {
 public:
  explicit BoxCoder(const BoxCoderOptions& options) : options_(options) {}

  /// Returns the deltas (n, 4) of targets (n, 4) relative to boxes (n, 4).
  at::Tensor encode(const at::Tensor& boxes, const at::Tensor& targets) const;
  /// boxes (n, 4), deltas (n, 4·k) -> decoded boxes (n, 4·k), clipped to a given `image` if clip_to_image is true.
  at::Tensor decode(const at::Tensor& boxes, const at::Tensor& deltas, const std::optional<ImageSize>& image) const;

 private:
  BoxCoderOptions options_;
};

}  // namespace cachet::models
