#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "cachet/io/images/image_report.h"
#include "cachet/io/images/image_request.h"
#include "cachet/io/images/pixel_size.h"

namespace cachet::io {

/// Encodes adjacent rows of width * channels bytes as a PNG file.
std::vector<std::byte> encode_png_rows(const uint8_t* pixels, const PixelSize& size);

/// Decodes the whole image in a PNG file by the rules of decode_png(). If the size is within options.max_pixels,
/// `allocate` is called once, and returns the memory for the pixels. Compressed data after the last pixel, and bytes
/// after the last chunk of the file, are counted as warnings; they are errors if options.strict. The function ignores
/// the channels and the region in `options`; the caller must apply them.
ImageReport decode_png_rows(std::span<const std::byte> bytes, std::string_view name, const ImageReadOptions& options,
                            const std::function<uint8_t*(const PixelSize&)>& allocate);

}  // namespace cachet::io
