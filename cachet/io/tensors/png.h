#pragma once

#include <ATen/core/TensorBody.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cachet::io {

/// PNG bytes of a uint8 image (H, W, 1) or (H, W, 3), grey or RGB. Throws std::invalid_argument for another tensor.
std::vector<std::byte> encode_png(const at::Tensor& image);

/// The image as (H, W, 3), or (H, W, 1) where the file is grey, uint8; palettes are resolved, 16 bits rounded to 8,
/// alpha dropped, interlacing undone. Throws io::Error where there are more than `max_pixels`, before memory for them
/// is taken; for a bad checksum and every other fault in chunks that affect the pixels; and for bytes after the image,
/// which decode_image() (image.h) reads over.
at::Tensor decode_png(std::span<const std::byte> bytes, std::string_view name, uint64_t max_pixels = 89'478'485);

}  // namespace cachet::io
