#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace cachet::report::test {

/// A grey PNG of `side` × `side` pixels whose value is pixel(row, column), without compression.
template <class Pixel>
std::string stored_png(int side, Pixel pixel) {
  const auto word = [](uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  const auto chunk = [&](const std::string& type, const std::string& data) {
    uint32_t crc = 0xFFFFFFFF;
    for (unsigned char byte : type + data) {
      crc ^= byte;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return word(static_cast<uint32_t>(data.size())) + type + data + word(~crc);
  };
  std::string rows;
  for (int row = 0; row < side; ++row) {
    rows += '\0';  // no filter
    for (int column = 0; column < side; ++column) rows += static_cast<char>(pixel(row, column));
  }
  uint32_t a = 1, b = 0;
  for (unsigned char byte : rows) a = (a + byte) % 65521, b = (b + a) % 65521;
  const uint16_t length = static_cast<uint16_t>(rows.size());
  std::string stored = "\x78\x01\x01";
  for (uint16_t value : {length, static_cast<uint16_t>(~length)}) {
    stored += static_cast<char>(value & 0xFF);
    stored += static_cast<char>(value >> 8);
  }
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", word(side) + word(side) + std::string("\x08\0\0\0\0", 5)) +
         chunk("IDAT", stored + rows + word(b << 16 | a)) + chunk("IEND", "");
}

}  // namespace cachet::report::test
