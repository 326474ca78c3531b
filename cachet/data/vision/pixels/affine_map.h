#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "cachet/data/vision/augmentation/augmentation_options.h"

namespace cachet::data {

/// An affine map from each position in the result to its position in the image: x' = xx·x + xy·y + x0 and y' = yx·x +
/// yy·y + y0. Pixel centres are at (x + ½, y + ½).
struct AffineMap {
  double xx = 1, xy = 0, x0 = 0;
  double yx = 0, yy = 1, y0 = 0;

  /// Returns the rotation by `degrees` counter-clockwise about the middle of an image.
  static AffineMap rotation(double degrees, int64_t height, int64_t width);

  /// Returns the map that applies `first`, and then this map.
  AffineMap after(const AffineMap& first) const;
  /// Returns the inverse map. Requires that this map is not singular: xx·yy ≠ xy·yx.
  AffineMap inverse() const;
};

/// A fill colour: one value for each channel.
using FillColour = std::array<uint8_t, 3>;

/// Applies an affine map to an image (H, W, C) uint8. A pixel whose position lies outside the image gets the colour
/// `fill`. For neighbours outside the image, interpolation uses the value at the border. Bicubic has a = −1. Values are
/// truncated, not rounded, as in Pillow.
at::Tensor apply_affine(const at::Tensor& image, const AffineMap& map, Interpolation interpolation,
                        const FillColour& fill);

}  // namespace cachet::data
