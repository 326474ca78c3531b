#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cachet::io {

/// The maximum size of an image file, in bytes.
inline constexpr uint64_t kMaxImageFileBytes = uint64_t{1} << 30;

/// Returns the format of an image file, known by its first bytes: "JPEG" or "PNG" (which can be decoded), "GIF", "BMP",
/// "WebP", "TIFF" or "JPEG 2000", or "" for any other format. A RIFF file counts as WebP.
std::string_view image_format(std::span<const std::byte> bytes);

}  // namespace cachet::io
