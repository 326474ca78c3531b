#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "cachet/data/vision/augmentation/augmentation_options.h"

namespace cachet::data {

/// The position in the image of each position in the result: x' = xx·x + xy·y + x0, y' = yx·x + yy·y + y0, from pixel
/// centres (x + ½, y + ½).
struct AffineMap {
  double xx = 1, xy = 0, x0 = 0;
  double yx = 0, yy = 1, y0 = 0;

  /// By `degrees` counter-clockwise about the middle of an image.
  static AffineMap rotation(double degrees, int64_t height, int64_t width);

  /// The map that does `first` and then this one.
  AffineMap after(const AffineMap& first) const;
  /// The way back. The map must not shrink an area to nothing: xx·yy ≠ xy·yx.
  AffineMap inverse() const;
};

/// A value for each channel.
using FillColour = std::array<uint8_t, 3>;

/// The image (H, W, C) uint8 seen through the map; `fill` where that looks outside. Neighbours outside count as the
/// border; bicubic is the cubic with a = −1. Values are cut off, not rounded, as Pillow does.
at::Tensor apply_affine(const at::Tensor& image, const AffineMap& map, Interpolation interpolation,
                        const FillColour& fill);

}  // namespace cachet::data
