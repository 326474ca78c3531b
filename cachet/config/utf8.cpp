#include "cachet/config/utf8.h"

#include <algorithm>
#include <cstdint>

namespace cachet::config {
namespace {

/// The length of the sequence at the start of `text`; 0 when there is none.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // The second byte rules out what the first cannot: overlong forms, surrogates, beyond U+10FFFF.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

/// The code point of a sequence that sequence_length() found.
uint32_t code_point(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(sequence[i])); };
  if (sequence.size() == 1) return byte(0);
  uint32_t value = byte(0) & (0x7FU >> sequence.size());
  for (size_t i = 1; i < sequence.size(); ++i) value = (value << 6) | (byte(i) & 0x3F);
  return value;
}

/// U+0080 to U+009F are control characters too; the others embed, override and isolate directions of writing.
bool is_obeyed(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string hexadecimal(uint32_t value, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 0xF];
  return text;
}

std::string escape_of(uint32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return c < 0x80 ? "\\x" + hexadecimal(c, 2) : "\\u" + hexadecimal(c, 4);
  }
}

/// Whether bytes may follow with which `begin` is a sequence.
bool may_become_sequence(std::string_view begin) {
  constexpr size_t kLongest = 4;
  // One of the two is a second byte of any first byte.
  for (const char more : {'\x80', '\xBF'})
    for (size_t size = begin.size() + 1; size <= kLongest; ++size)
      if (sequence_length(std::string(begin) + std::string(size - begin.size(), more)) == size) return true;
  return false;
}

}  // namespace

size_t first_invalid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence_length(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence_length(text.substr(i));
    const auto first = static_cast<uint8_t>(text[i]);
    // U+0080 to U+009F, the second set of control characters, is C2 80 to C2 9F.
    const bool control =
        first < 0x20 || first == 0x7F || (length == 2 && first == 0xC2 && static_cast<uint8_t>(text[i + 1]) < 0xA0);
    if (length == 0 || control) {
      result += '?';
    } else {
      result += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return result;
}

std::string visible(std::string_view text, std::string_view kept) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence_length(text.substr(i));
    if (length == 0) {
      result += "\\x" + hexadecimal(static_cast<uint8_t>(text[i++]), 2);
      continue;
    }
    const std::string_view sequence = text.substr(i, length);
    const uint32_t c = code_point(sequence);
    const bool stays = !is_obeyed(c) || (length == 1 && kept.find(sequence[0]) != std::string_view::npos);
    stays ? result += sequence : result += escape_of(c);
    i += length;
  }
  return result;
}

std::string Utf8Repair::add(std::string_view piece) {
  held_ += piece;
  std::string shown;
  size_t at = 0;
  while (at < held_.size()) {
    const std::string_view rest = std::string_view(held_).substr(at);
    const size_t length = sequence_length(rest);
    if (length == 0 && may_become_sequence(rest)) break;
    shown += length == 0 ? std::string_view("\xEF\xBF\xBD") : rest.substr(0, length);
    at += std::max<size_t>(1, length);
  }
  held_.erase(0, at);
  return shown;
}

std::string Utf8Repair::finish() {
  std::string shown;
  for (size_t i = 0; i < held_.size(); ++i) shown += "\xEF\xBF\xBD";
  held_.clear();
  return shown;
}

}  // namespace cachet::config
