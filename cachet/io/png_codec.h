#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "cachet/io/pixel_size.h"

namespace cachet::io {

/// Encodes rows of width * channels bytes that follow each other.
std::vector<std::byte> encode_png_rows(const uint8_t* pixels, const PixelSize& size);

/// Decodes as decode_png() says; `allocate` is asked once for memory, after the size is known and found within
/// max_pixels.
void decode_png_rows(std::span<const std::byte> bytes, std::string_view name, uint64_t max_pixels,
                     const std::function<uint8_t*(const PixelSize&)>& allocate);

}  // namespace cachet::io
