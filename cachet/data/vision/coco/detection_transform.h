#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/random.h"
#include "cachet/data/vision/coco/detection_set.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/geometry/box.h"

namespace cachet::data {

/// The longer side has at most `longer` pixels and the shorter at most `shorter`, whichever is reached first.
struct ScaleLimit {
  int64_t longer = 1333, shorter = 800;
  bool operator==(const ScaleLimit&) const = default;
};

/// The largest size in proportion within a limit: sides times min(longer / long side, shorter / short side), rounded.
geometry::Size size_within(const geometry::Size& image, const ScaleLimit& limit);

/// What is done to images and objects of a detector. The defaults are those of PVT's recipes; evaluation draws nothing.
struct DetectionTransformOptions {
  std::vector<ScaleLimit> scales{ScaleLimit{}};  // one is drawn for each image
  double mirror = 0.5;                           // probability of mirroring left and right
  bool mirror_first = false;                     // before resizing, else after it

  /// In this fraction of the images, resizing comes third: to a scale of these, then a random crop whose sides lie
  /// between the bounds (and within the image).
  double crop_share = 0;
  std::vector<ScaleLimit> crop_scales{};
  int64_t least_crop = 384, most_crop = 600;

  int64_t multiple = 32;  // sides of a batch are filled up to a multiple of this

  /// Swin's: shorter sides of 480 … 800 in steps of 32, and a crop from 400, 500 or 600 for half of the images
  /// (arXiv 2103.14030, Sec. 4.2).
  static DetectionTransformOptions multi_scale();
  /// The same sizes without a draw: the largest scale, nothing mirrored or cropped.
  DetectionTransformOptions for_evaluation() const;
};

/// Reads scales ("single" or "multi", or with long_side and short_sides), mirror, crop_share, crop_short_sides,
/// crop_sides and pad_multiple.
DetectionTransformOptions read_detection_transform(const config::View& view);

/// An image as a detector sees it, and what is known of its objects. Boxes in its pixels.
struct DetectionSample {
  int64_t index = 0;     // of the set
  int64_t image_id = 0;  // of the file
  at::Tensor pixels{};   // (3, H, W) float32, normalised, not yet filled up
  geometry::Size original{}, resized{};
  std::array<double, 2> scale{1, 1};  // width, height: of the last resizing
  bool mirrored = false;
  DetectionObjects objects{};  // masks at the size of `resized`
};

/// What was drawn for one image.
struct DetectionDraws {
  ScaleLimit scale{};
  bool mirrored = false, cropped = false;
  ScaleLimit crop_scale{};
  // Numbers in [0, 1) that choose height, width, top and left of the crop once the size is known.
  std::array<double, 4> crop{};
};

/// Crops what lies in a window of the image: boxes are cut at its border, and objects without area within it go.
DetectionObjects cropped(const DetectionObjects& objects, const geometry::Size& window, int64_t top, int64_t left);
/// Boxes are cut at the border of the new image.
DetectionObjects resized(const DetectionObjects& objects, const geometry::Size& from, const geometry::Size& to);
DetectionObjects mirrored(const DetectionObjects& objects, const geometry::Size& image);

/// (H, W, C) uint8, bilinear at pixel centres, without antialiasing: OpenCV's default.
at::Tensor resized_bilinear(const at::Tensor& pixels, const geometry::Size& size);

/// Turns images and their objects into samples. What is drawn is a function of (seed, epoch, index).
class DetectionTransform {
 public:
  /// Throws std::invalid_argument for options that make no sense and for a normalisation of other than three channels.
  DetectionTransform(DetectionTransformOptions options, Normalization normalization);

  const DetectionTransformOptions& options() const { return options_; }

  DetectionDraws draw(const SampleRandom& random) const;
  /// `pixels` (H, W, 3) uint8.
  DetectionSample apply(at::Tensor pixels, DetectionObjects objects, const DetectionDraws& draws) const;

 private:
  at::Tensor normalized(const at::Tensor& pixels) const;

  DetectionTransformOptions options_;
  std::array<std::array<float, 256>, 3> levels_;  // of each channel and value
};

/// The side filled up to a multiple.
inline int64_t padded_side(int64_t side, int64_t multiple) { return (side + multiple - 1) / multiple * multiple; }

}  // namespace cachet::data
