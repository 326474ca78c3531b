#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cachet::io {

/// The largest file that is read as an image.
inline constexpr uint64_t kMaxImageFileBytes = uint64_t{1} << 30;

/// The format of an image file by its first bytes: "JPEG", "PNG" (the two that are read), "GIF", "BMP", "WebP", "TIFF"
/// or "JPEG 2000"; "" if the bytes begin like none of these. A RIFF file counts as WebP.
std::string_view image_format(std::span<const std::byte> bytes);

}  // namespace cachet::io
