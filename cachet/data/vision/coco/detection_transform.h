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

/// Limits of the resized sides: the longer side has at most `longer` pixels, and the shorter side at most `shorter`.
struct ScaleLimit {
  int64_t longer = 1333, shorter = 800;
  bool operator==(const ScaleLimit&) const = default;
};

/// Scales a size to `limit`: multiplies both sides by min(longer / long side, shorter / short side), and rounds them.
geometry::Size size_within(const geometry::Size& image, const ScaleLimit& limit);

/// Transform of a detector's images and objects. The defaults come from PVT's recipes. In evaluation, the transform is
/// not random.
struct DetectionTransformOptions {
  std::vector<ScaleLimit> scales{ScaleLimit{}};  // one scale is drawn for each image
  double mirror = 0.5;                           // probability of mirroring left and right
  bool mirror_first = false;                     // whether to mirror before resizing instead of after it

  /// The fraction of images that go through three steps: resizing to one of crop_scales, then a random crop with sides
  /// between the bounds (and within the image), then the usual resizing.
  double crop_share = 0;
  std::vector<ScaleLimit> crop_scales{};
  int64_t least_crop = 384, most_crop = 600;

  int64_t multiple = 32;  // sides of a batch are padded to a multiple of this

  /// Returns the options of Swin (arXiv 2103.14030, Sec. 4.2): shorter sides of 480 … 800 in steps of 32. Half of the
  /// images are first resized to a shorter side of 400, 500 or 600 and cropped.
  static DetectionTransformOptions multi_scale();
  /// Returns the options without random draws: the largest scale, no mirroring and no cropping.
  DetectionTransformOptions for_evaluation() const;
};

/// Reads the keys scales ("single" or "multi"; or instead long_side and short_sides), mirror, crop_share,
/// crop_short_sides, crop_sides and pad_multiple.
DetectionTransformOptions read_detection_transform(const config::View& view);

/// The input image of a detector, with its objects. Boxes are in pixels of the input image.
struct DetectionSample {
  int64_t index = 0;     // index in the set
  int64_t image_id = 0;  // id in the file
  at::Tensor pixels{};   // (3, H, W) float32, normalised, not yet padded
  geometry::Size original{}, resized{};
  std::array<double, 2> scale{1, 1};  // factors of width and height in the last resizing
  bool mirrored = false;
  DetectionObjects objects{};  // masks at the size of `resized`
};

/// The random numbers that determine the transform of one image.
struct DetectionDraws {
  ScaleLimit scale{};
  bool mirrored = false, cropped = false;
  ScaleLimit crop_scale{};
  // Numbers in [0, 1) that determine height, width, top and left of the crop when the image size is known.
  std::array<double, 4> crop{};
};

/// Returns the objects in a window of the image. Cuts boxes at the window's border and drops objects without area.
DetectionObjects cropped(const DetectionObjects& objects, const geometry::Size& window, int64_t top, int64_t left);
/// Returns the objects of the resized image. Boxes are cut at the border of the resized image.
DetectionObjects resized(const DetectionObjects& objects, const geometry::Size& from, const geometry::Size& to);
DetectionObjects mirrored(const DetectionObjects& objects, const geometry::Size& image);

/// Resizes an image (H, W, C) uint8 bilinearly at pixel centres, without antialiasing, like OpenCV's default.
at::Tensor resized_bilinear(const at::Tensor& pixels, const geometry::Size& size);

/// Transforms images and their objects to samples. The random draws are a function of (seed, epoch, index).
class DetectionTransform {
 public:
  /// Throws std::invalid_argument for invalid options and for a normalisation without exactly three channels.
  DetectionTransform(DetectionTransformOptions options, Normalization normalization);

  const DetectionTransformOptions& options() const { return options_; }

  DetectionDraws draw(const SampleRandom& random) const;
  /// Transforms one image, `pixels` (H, W, 3) uint8, and its objects.
  DetectionSample apply(at::Tensor pixels, DetectionObjects objects, const DetectionDraws& draws) const;

 private:
  at::Tensor normalized(const at::Tensor& pixels) const;

  DetectionTransformOptions options_;
  std::array<std::array<float, 256>, 3> levels_;  // normalised value for each channel and pixel value
};

/// Returns the length of an image's side, rounded up to a multiple of `multiple`.
inline int64_t padded_side(int64_t side, int64_t multiple) { return (side + multiple - 1) / multiple * multiple; }

}  // namespace cachet::data
