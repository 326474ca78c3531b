#include "cachet/io/images/image_format.h"

#include <algorithm>
#include <array>

namespace cachet::io {
namespace {

struct Beginning {
  std::string_view bytes, format;
};

// A WebP file has its mark after the length of its container.
constexpr std::array<Beginning, 8> kBeginnings{{
    {"\xFF\xD8\xFF", "JPEG"},
    {"\x89PNG\r\n\x1A\n", "PNG"},
    {"GIF8", "GIF"},
    {"BM", "BMP"},
    {"RIFF", "WebP"},
    {std::string_view("II*\0", 4), "TIFF"},
    {std::string_view("MM\0*", 4), "TIFF"},
    {std::string_view("\0\0\0\x0CjP", 6), "JPEG 2000"},
}};

}  // namespace

std::string_view image_format(std::span<const std::byte> bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const auto found = std::ranges::find_if(kBeginnings, [&](const auto& kind) { return text.starts_with(kind.bytes); });
  return found == kBeginnings.end() ? "" : found->format;
}

}  // namespace cachet::io
