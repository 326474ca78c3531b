#pragma once

#include <cstdint>
#include <vector>

#include "cachet/io/images/image_request.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::runtime {

/// An image (height, width, channels).
template <class Value>
struct Raster {
  io::ImageSize size;
  int64_t channels = 0;
  std::vector<Value> values;
};
using Pixels = Raster<uint8_t>;

/// Resizes with antialiasing: the filter, widened if an image shrinks, in 16-bit weights; first rows, then columns,
/// each rounded to bytes. Gives the same bits as Pillow and ATen, with which models are trained and evaluated.
Pixels resized(const Pixels& image, const io::ImageSize& size, PixelFilter filter);
/// Resizes in floating point, without rounding.
Raster<float> resized(const Raster<float>& image, const io::ImageSize& size, PixelFilter filter);

}  // namespace cachet::runtime
