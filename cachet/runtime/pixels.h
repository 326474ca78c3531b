#pragma once

#include <cstdint>
#include <vector>

#include "cachet/io/images/image_request.h"
#include "cachet/runtime/export_manifest.h"

namespace cachet::runtime {

/// An image, (height, width, channels).
template <class Value>
struct Raster {
  io::ImageSize size;
  int64_t channels = 0;
  std::vector<Value> values;
};
using Pixels = Raster<uint8_t>;

/// Resizes with antialiasing: the filter, widened where an image shrinks, in 16-bit weights; rows first, then columns,
/// each rounded to bytes. The same bits as Pillow and as ATen, with which models are trained and evaluated.
Pixels resized(const Pixels& image, const io::ImageSize& size, PixelFilter filter);
/// The same in numbers, unrounded.
Raster<float> resized(const Raster<float>& image, const io::ImageSize& size, PixelFilter filter);

}  // namespace cachet::runtime
