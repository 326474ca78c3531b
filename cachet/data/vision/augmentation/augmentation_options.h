#pragma once

#include <array>
#include <cstdint>

#include "cachet/config/view.h"

namespace cachet::data {

enum class Interpolation { bilinear, bicubic, lanczos };
inline constexpr std::array<config::Choice<Interpolation>, 3> kInterpolations{
    {{"bilinear", Interpolation::bilinear}, {"bicubic", Interpolation::bicubic}, {"lanczos", Interpolation::lanczos}}};

/// Which region of an image is used.
enum class CropKind {
  padded,   // a window of the image's own size, shifted by up to crop_padding
  resized,  // a region of random area and aspect, which is resized (Szegedy et al. 2014)
  centre,   // the middle, after the shorter side was resized, as in evaluation
};
enum class CropFill { zero, reflect };
enum class ErasingMode { constant, pixel };

/// Bounds of a random region.
struct ResizedCropOptions {
  double least_area = 0.08, most_area = 1;               // fractions of the image
  double least_aspect = 3.0 / 4, most_aspect = 4.0 / 3;  // ratio of width to height
};

/// Random colour changes in random order (Howard 2013): factors in [1 − x, 1 + x], a hue shift in [−hue, hue] turns.
struct ColorJitterOptions {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
  bool active() const { return brightness > 0 || contrast > 0 || saturation > 0 || hue > 0; }
};

/// RandAugment (Cubuk et al. 2019) like timm's `rand-m9-mstd0.5-inc1`, with 15 possible operations. An operation that
/// was chosen at random is applied with `probability`. The magnitude of an operation is sampled from normal(magnitude,
/// deviation) and clamped to [0, 10].
struct RandAugmentOptions {
  int64_t operations = 0;  // operations for each image, one after the other; 0 = off, 2 as published
  double magnitude = 9, deviation = 0.5;
  double probability = 0.5;
  bool increasing = true;  // whether a larger magnitude is always a stronger change
  bool active() const { return operations > 0; }
};

/// Random erasing (Zhong et al. 2017), which replaces a rectangle by the mean colour, or by normal noise.
struct ErasingOptions {
  double probability = 0;
  double least_area = 0.02, most_area = 1.0 / 3;  // fractions of the image
  double least_aspect = 0.3;                      // height / width lies between this and its inverse
  ErasingMode mode = ErasingMode::constant;
};

/// Augmentation of a training image: crop, flip, change of colours, and erasing of a part. The defaults change nothing.
struct AugmentationOptions {
  double flip = 0;  // probability of mirroring left and right
  CropKind crop = CropKind::padded;
  int64_t crop_padding = 0;             // pixels added on each side before a padded crop
  CropFill crop_fill = CropFill::zero;  // fill of the padding: black (pixel value 0) or mirrored at the border
  ResizedCropOptions resized_crop{};
  ColorJitterOptions jitter{};
  RandAugmentOptions rand_augment{};
  ErasingOptions erasing{};
};

/// Reads the keys flip, crop, crop_padding, crop_fill, crop_area, crop_aspect, brightness, contrast, saturation, hue,
/// the erasing keys and the table rand_augment. `own_sizes`: whether the images may differ in size; then crop is
/// `resized` by default and cannot be `padded`.
AugmentationOptions read_augmentation_options(const config::View& view, bool own_sizes = false);

/// The height and width in pixels to which images are resized. 0 × 0 disables resizing. If a recipe has a single
/// number, the size is a square.
struct TargetSize {
  int64_t height = 0, width = 0;

  TargetSize() = default;
  TargetSize(int64_t side) : height(side), width(side) {}  // implicit, for `.image_size = 224` as in a recipe
  TargetSize(int64_t rows, int64_t columns) : height(rows), width(columns) {}
  bool given() const { return height > 0; }
  bool operator==(const TargetSize&) const = default;
};

/// The image size that a model needs.
struct ResizeOptions {
  TargetSize image_size{};  // 0 × 0: images stay at the size of the data
  Interpolation interpolation = Interpolation::bicubic;
  /// In evaluation, an image is resized without distortion to the smallest size that covers image_size / crop_fraction.
  /// The middle of the resized image is used. If crop_fraction is 1 and all images of the data set have the same size,
  /// images are resized as a whole.
  double crop_fraction = 1;

  /// Returns the usual options for images of different sizes: a crop of 224 pixels after resizing to 256 pixels.
  static ResizeOptions of_own_sizes() { return {.image_size = 224, .crop_fraction = 0.875}; }
};

/// Reads the keys image_size (one number or [height, width]), interpolation and crop_fraction. If `defaults` has an
/// image size, the recipe must not set image_size to 0.
ResizeOptions read_resize_options(const config::View& view, ResizeOptions defaults = {});

}  // namespace cachet::data
