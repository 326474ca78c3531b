#include "cachet/config/toml_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace cachet::config {

std::string toml_text(bool value) { return value ? "true" : "false"; }

std::string toml_text(int64_t value) { return std::to_string(value); }

std::string toml_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);  // 0.0005, but 1e-05
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string toml_text(std::string_view value) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text = "\"";
  for (const char character : value) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      text += '\\';
      text += character;
    } else if (character == '\n') {
      text += "\\n";
    } else if (character == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      text += "\\u00";
      text += kHex[byte >> 4];
      text += kHex[byte & 15];
    } else {
      text += character;
    }
  }
  return text += '"';
}

std::string toml_text(const std::string& value) { return toml_text(std::string_view(value)); }

std::string toml_key(std::string_view key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return bare ? std::string(key) : toml_text(key);
}

}  // namespace cachet::config
