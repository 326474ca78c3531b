#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace cachet::test {

/// The bytes that a fixture holds in base64 (RFC 4648, with padding).
inline std::vector<std::byte> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::vector<std::byte> bytes;
  uint32_t bits = 0;
  int held = 0;  // of them, not yet in a byte
  for (const char symbol : text) {
    const size_t value = kAlphabet.find(symbol);
    if (value == std::string_view::npos) throw std::runtime_error("a fixture that is no base64");
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((held += 6) < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> held & 0xFF));
  }
  return bytes;
}

}  // namespace cachet::test
