#pragma once

#include <ATen/core/TensorBody.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cachet::io {

/// Encodes a uint8 image as PNG: (H, W, 1) is grey, (H, W, 3) is RGB. Throws std::invalid_argument for another tensor.
std::vector<std::byte> encode_png(const at::Tensor& image);

/// Decodes a PNG image as uint8 (H, W, 3), or (H, W, 1) if the file is grey. Palettes are converted to colours, 16 bits
/// are rounded to 8, alpha is dropped, and interlacing is undone. Throws io::Error for more than `max_pixels` pixels
/// (before memory is allocated), for a bad checksum, for any other fault in chunks that affect the pixels, and for
/// bytes after the image. decode_image() (image.h) ignores bytes after the image.
at::Tensor decode_png(std::span<const std::byte> bytes, std::string_view name, uint64_t max_pixels = 89'478'485);

}  // namespace cachet::io
