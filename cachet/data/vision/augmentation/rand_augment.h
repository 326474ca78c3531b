#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "cachet/data/random.h"
#include "cachet/data/vision/augmentation/augmentation_options.h"
#include "cachet/data/vision/pixels/affine_map.h"

namespace cachet::data {

/// The operations of RandAugment, in timm's order.
enum class RandAugmentOperation {
  autocontrast,
  equalize,
  invert,
  rotate,
  posterize,
  solarize,
  solarize_add,
  colour,
  contrast,
  brightness,
  sharpness,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
};
inline constexpr int64_t kRandAugmentOperations = 15;

struct AffineStyle {
  Interpolation interpolation = Interpolation::bicubic;
  FillColour fill{};  // colour of the area that a moved image no longer covers
};

/// Returns the geometric map of an operation at a magnitude in [0, 10], or std::nullopt if it changes only colours.
std::optional<AffineMap> operation_map(RandAugmentOperation operation, double magnitude, bool opposite, int64_t height,
                                       int64_t width);

/// Applies one operation at a magnitude in [0, 10]: rotation up to 30°, shears up to 0.3, translations up to 0.45 of a
/// side, blends up to 1 ± 0.9, posterization to 0 … 4 bits. If an operation has a direction, `opposite` reverses the
/// direction.
at::Tensor apply_operation(const at::Tensor& image, RandAugmentOperation operation, double magnitude, bool opposite,
                           bool increasing, const AffineStyle& style);

struct RandAugmented {
  at::Tensor image;  // (H, W, C) uint8
  AffineMap map;     // maps each position in the result to its position in the input
};

/// Chooses operations at random and applies them to an image (H, W, C) uint8.
RandAugmented rand_augment(at::Tensor image, const RandAugmentOptions& options, const AffineStyle& style,
                           CounterRandom random);

}  // namespace cachet::data
