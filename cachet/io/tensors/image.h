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
  at::Tensor pixels;  // (H, W, 1) grey or (H, W, 3) RGB, uint8: of the region that was asked for
  ImageSize size;     // of the whole image: upright if the orientation was applied
  int64_t warnings = 0;
  std::string first_warning;
  int orientation = 1;  // as EXIF has it (upright.h), whether it was applied or not
};

/// Decodes a JPEG or PNG image, recognised by its first bytes and not by a name. Palettes are resolved, 16 bits are
/// rounded to 8, alpha is dropped (the colours stay as they are stored), and CMYK becomes RGB. Grey is made RGB, or RGB
/// grey, only if options.channels asks for it. The orientation in EXIF is applied if options.orientation asks for it.
/// Throws Error that begins with `name` and names the fault.
DecodedImage decode_image(std::span<const std::byte> bytes, std::string_view name,
                          const ImageReadOptions& options = {});

/// Decodes a file of at most kMaxImageFileBytes so.
DecodedImage read_image(const std::filesystem::path& path, const ImageReadOptions& options = {});

}  // namespace cachet::io
