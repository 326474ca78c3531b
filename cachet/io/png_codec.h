#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace cachet::io {

/// What a PNG file becomes: 8 bits, one channel (grey) or three (RGB).
struct PngSize {
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 0;
};

/// Encodes rows of width * channels bytes that follow each other.
std::vector<std::byte> encode_png_rows(const uint8_t* pixels, const PngSize& size);

/// Decodes as decode_png() says; `allocate` is asked once for memory, after the size is known and found within
/// max_pixels.
void decode_png_rows(std::span<const std::byte> bytes, std::string_view name, uint64_t max_pixels,
                     const std::function<uint8_t*(const PngSize&)>& allocate);

}  // namespace cachet::io
