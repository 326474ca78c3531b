#pragma once

#include <cstdint>

namespace cachet::io {

/// The size of decoded pixels. A pixel has one channel (grey) or three (RGB) of 8 bits each, interleaved.
struct PixelSize {
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 0;

  uint64_t row_bytes() const { return uint64_t{width} * channels; }
};

}  // namespace cachet::io
