#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cachet/io/images/pixel_size.h"

namespace cachet::io {

/// Encodes rows of width * channels bytes that follow each other as a baseline JPEG file of a quality of 1 … 100.
/// Throws std::invalid_argument for another quality, for other than one or three channels and for sides that JPEG
/// cannot have, and Error where libjpeg fails.
std::vector<std::byte> encode_jpeg_rows(const uint8_t* pixels, const PixelSize& size, int quality = 90);

}  // namespace cachet::io
