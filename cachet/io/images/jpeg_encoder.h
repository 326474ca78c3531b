#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cachet/io/images/pixel_size.h"

namespace cachet::io {

/// Encodes adjacent rows of width * channels bytes as a baseline JPEG file. `quality` is 1 … 100. Throws
/// std::invalid_argument for a quality out of range, for a number of channels other than one or three, and for sides
/// that JPEG does not allow. Throws Error if libjpeg fails.
std::vector<std::byte> encode_jpeg_rows(const uint8_t* pixels, const PixelSize& size, int quality = 90);

}  // namespace cachet::io
