#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace cachet::data {

/// The length of a text in bytes and in characters of UTF-8.
struct TextSize {
  int64_t bytes = 0, characters = 0;

  TextSize& operator+=(const TextSize& other) {
    bytes += other.bytes;
    characters += other.characters;
    return *this;
  }
  TextSize& operator-=(const TextSize& other) {
    bytes -= other.bytes;
    characters -= other.characters;
    return *this;
  }
  bool operator==(const TextSize&) const = default;
};

/// Returns the bytes and characters of a text. Only the first byte of a UTF-8 character counts as a character.
inline TextSize size_of(std::string_view text) {
  return {static_cast<int64_t>(text.size()),
          std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; })};
}

/// The size of the part of a text that its tokens encode: the smaller of the sizes of the decoded and the original
/// text. The size does not include unknown words, characters without a token, and blanks that no token encodes.
struct CodedText {
  TextSize size{};
  int64_t unknown = 0;  // number of tokens for text that the vocabulary does not have

  CodedText& operator+=(const CodedText& other) {
    size += other.size;
    unknown += other.unknown;
    return *this;
  }
  bool operator==(const CodedText&) const = default;
};

/// Returns a size with the smaller number of bytes and the smaller number of characters of `one` and `other`.
inline TextSize smaller(const TextSize& one, const TextSize& other) {
  return {std::min(one.bytes, other.bytes), std::min(one.characters, other.characters)};
}

}  // namespace cachet::data
