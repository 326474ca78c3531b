#include "cachet/io/base64.h"

#include <algorithm>
#include <cstdint>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

constexpr std::string_view kBase64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint32_t base64_value(char symbol) {
  const size_t value = kBase64Alphabet.find(symbol);
  if (value == std::string_view::npos) throw Error("base64: a character outside the alphabet");
  return static_cast<uint32_t>(value);
}

}  // namespace

std::string encode_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? std::to_integer<uint32_t>(bytes[i + k]) : 0);
    const size_t symbols = std::min<size_t>(bytes.size() - i, 3) + 1;
    for (size_t k = 0; k < 4; ++k) text += k < symbols ? kBase64Alphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::vector<std::byte> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) throw Error("base64: the length is not a multiple of four");
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const size_t symbols = text.size() - padding;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < symbols; i += 4) {
    const size_t given = std::min<size_t>(symbols - i, 4);
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) group = group << 6 | (k < given ? base64_value(text[i + k]) : 0);
    for (size_t k = 0; k + 1 < given; ++k) bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * k)));
    if (given < 4 && (group & (given == 2 ? 0xFFFF : 0xFF)) != 0) throw Error("base64: spare bits that are not zero");
  }
  return bytes;
}

}  // namespace cachet::io
