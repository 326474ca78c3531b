#pragma once

#include <cstdint>
#include <vector>

#include "cachet/io/images/image_request.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::runtime {

/// An image with values (height, width, channels).
template <class Value>
struct Raster {
  io::ImageSize size;
  int64_t channels = 0;
  std::vector<Value> values;
};
using Pixels = Raster<uint8_t>;

/// Resizes with antialiasing: the filter has 16-bit weights and is widened if an image shrinks. Resizes the rows and
/// rounds to bytes, then resizes the columns and rounds to bytes again. The result has the same bits as the results of
/// Pillow and ATen, which training and evaluation use.
Pixels resized(const Pixels& image, const io::ImageSize& size, PixelFilter filter);
/// Resizes an image in floating point, without rounding.
Raster<float> resized(const Raster<float>& image, const io::ImageSize& size, PixelFilter filter);

}  // namespace cachet::runtime
