#pragma once

#include <cstdint>
#include <string>

#include "tests/support/jpeg_files.h"

// EXIF blocks made in memory, and files that have one.
namespace cachet::test {

/// A block in TIFF's form, little-endian: "Make", then Orientation as a number of 16 bits.
inline std::string exif_block(uint8_t orientation, bool big_endian = false) {
  using namespace std::string_literals;
  const auto turned = [&](std::string number) {
    return big_endian ? std::string(number.rbegin(), number.rend()) : number;
  };
  const auto two = [&](int value) { return turned({static_cast<char>(value), static_cast<char>(value >> 8)}); };
  const auto four = [&](int value) { return turned({static_cast<char>(value), static_cast<char>(value >> 8), 0, 0}); };
  return (big_endian ? "MM\0*"s : "II*\0"s) + four(8) + two(2) +  //
         two(0x010F) + two(2) + four(4) + "abc\0"s +              // "Make", a text
         two(0x0112) + two(3) + four(1) + two(orientation) + two(0) + four(0);
}

inline std::string jpeg_segment(uint8_t code, const std::string& content) {
  const size_t length = content.size() + 2;
  return std::string{'\xFF', static_cast<char>(code), static_cast<char>(length >> 8), static_cast<char>(length)} +
         content;
}

/// The JPEG file with such a block.
inline std::string with_exif(const std::string& jpeg, uint8_t orientation, bool big_endian = false) {
  return jpeg.substr(0, 2) + jpeg_segment(0xE1, std::string("Exif\0\0", 6) + exif_block(orientation, big_endian)) +
         jpeg.substr(2);
}

/// The PNG file with a chunk before the others but its header.
inline std::string with_png_chunk(const std::string& png, const std::string& type, const std::string& content) {
  const std::string chunk = type + content;
  uint32_t checksum = 0xFFFFFFFF;
  for (const char byte : chunk) {
    checksum ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) checksum = checksum >> 1 ^ (0xEDB88320 & (0 - (checksum & 1)));
  }
  const auto big_endian = [](uint32_t number) {
    return std::string{static_cast<char>(number >> 24), static_cast<char>(number >> 16), static_cast<char>(number >> 8),
                       static_cast<char>(number)};
  };
  constexpr size_t kSignatureAndHeader = 33;
  return std::string(png).insert(kSignatureAndHeader,
                                 big_endian(static_cast<uint32_t>(content.size())) + chunk + big_endian(~checksum));
}

/// The PNG file with such a block.
inline std::string with_png_exif(const std::string& png, uint8_t orientation) {
  return with_png_chunk(png, "eXIf", exif_block(orientation));
}

}  // namespace cachet::test
