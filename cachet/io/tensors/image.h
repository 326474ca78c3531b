#pragma once

#include <ATen/core/TensorBody.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "cachet/io/images/image_format.h"
#include "cachet/io/images/image_request.h"

namespace cachet::io {

struct DecodedImage {
  at::Tensor pixels;  // (H, W, 1) grey or (H, W, 3) RGB, uint8, of the requested region
  ImageSize size;     // size of the whole image, upright if the orientation was applied
  int64_t warnings = 0;
  std::string first_warning;
  int orientation = 1;  // EXIF orientation (upright.h), even if it was not applied
};

/// Decodes a JPEG or PNG image. The first bytes determine the format; the file's name does not matter. Palettes are
/// resolved, 16 bits are rounded to 8, alpha is dropped (the stored colours stay), and CMYK becomes RGB. Grey becomes
/// RGB, or RGB becomes grey, only if options.channels requests it. The EXIF orientation is applied if
/// options.orientation requests it. Throws Error, which begins with `name` and names the fault.
DecodedImage decode_image(std::span<const std::byte> bytes, std::string_view name,
                          const ImageReadOptions& options = {});

/// Reads a file of at most kMaxImageFileBytes, and decodes it with decode_image().
DecodedImage read_image(const std::filesystem::path& path, const ImageReadOptions& options = {});

}  // namespace cachet::io
