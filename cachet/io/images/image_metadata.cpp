#include "cachet/io/images/image_metadata.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cachet::io {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kJpegStart = "\xFF\xD8"sv, kPngStart = "\x89PNG\r\n\x1A\n"sv;
constexpr std::string_view kExifMark = "Exif\0\0"sv, kManyPicturesMark = "MPF\0"sv;
constexpr std::string_view kLittleEndianMark = "II*\0"sv, kBigEndianMark = "MM\0*"sv;

enum class ByteOrder { little, big };

uint32_t number_at(std::string_view bytes, size_t at, size_t count, ByteOrder order) {
  uint32_t number = 0;
  for (size_t i = 0; i < count; ++i)
    number = number << 8 | static_cast<uint8_t>(bytes[at + (order == ByteOrder::big ? i : count - 1 - i)]);
  return number;
}

/// Of a block in TIFF's form: the value of the first tag Orientation in its first directory.
int orientation_in(std::string_view exif) {
  constexpr size_t kHeader = 8, kEntry = 12;
  constexpr uint32_t kOrientation = 0x0112, kShort = 3, kLong = 4;
  const bool big = exif.starts_with(kBigEndianMark);
  if (exif.size() < kHeader || (!big && !exif.starts_with(kLittleEndianMark))) return 1;
  const ByteOrder order = big ? ByteOrder::big : ByteOrder::little;
  const size_t directory = number_at(exif, 4, 4, order);
  if (directory > exif.size() - 2) return 1;
  const uint32_t entries = number_at(exif, directory, 2, order);
  size_t at = directory + 2;
  for (uint32_t i = 0; i < entries && exif.size() - at >= kEntry; ++i, at += kEntry) {
    if (number_at(exif, at, 2, order) != kOrientation) continue;
    const uint32_t type = number_at(exif, at + 2, 2, order);
    if (type != kShort && type != kLong) return 1;
    const uint32_t value = number_at(exif, at + 8, type == kShort ? 2 : 4, order);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

ImageMetadata metadata_of_jpeg(std::string_view bytes) {
  constexpr uint8_t kFirstRestart = 0xD0, kStart = 0xD8, kEnd = 0xD9, kScan = 0xDA, kApp1 = 0xE1, kApp2 = 0xE2,
                    kTemporary = 0x01;
  ImageMetadata metadata;
  bool has_exif = false;
  size_t at = kJpegStart.size();
  while (at + 1 < bytes.size()) {
    // As libjpeg does, whatever stands before the next marker is passed over.
    if (bytes[at] != '\xFF' || bytes[at + 1] == '\0' || bytes[at + 1] == '\xFF') {
      ++at;
      continue;
    }
    const auto marker = static_cast<uint8_t>(bytes[at + 1]);
    at += 2;
    if (marker == kScan || marker == kEnd) break;
    if ((marker >= kFirstRestart && marker <= kStart) || marker == kTemporary) continue;
    if (bytes.size() - at < 2) break;
    const size_t length = number_at(bytes, at, 2, ByteOrder::big);
    if (length < 2 || length > bytes.size() - at) break;
    const std::string_view segment = bytes.substr(at + 2, length - 2);
    if (marker == kApp1 && !has_exif && segment.starts_with(kExifMark)) {
      has_exif = true;
      metadata.orientation = orientation_in(segment.substr(kExifMark.size()));
    }
    if (marker == kApp2 && segment.starts_with(kManyPicturesMark)) metadata.has_more_pictures = true;
    at += length;
  }
  return metadata;
}

ImageMetadata metadata_of_png(std::string_view bytes) {
  constexpr size_t kHead = 8, kChecksum = 4;
  for (size_t at = kPngStart.size(); bytes.size() - at >= kHead;) {
    const size_t length = number_at(bytes, at, 4, ByteOrder::big);
    const std::string_view type = bytes.substr(at + 4, 4);
    at += kHead;
    if (type == "IEND" || length > bytes.size() - at) break;
    if (type == "eXIf") return {orientation_in(bytes.substr(at, length))};
    at += length;
    if (bytes.size() - at < kChecksum) break;
    at += kChecksum;
  }
  return {};
}

}  // namespace

ImageMetadata image_metadata(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kJpegStart)) return metadata_of_jpeg(text);
  if (text.starts_with(kPngStart)) return metadata_of_png(text);
  return {};
}

}  // namespace cachet::io
