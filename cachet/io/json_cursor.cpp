#include "cachet/io/json_cursor.h"

#include <limits>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

void append_code_point(uint32_t code, std::string& text) {
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    (text += static_cast<char>(0xC0 | (code >> 6))) += tail(0);
  } else if (code < 0x10000) {
    ((text += static_cast<char>(0xE0 | (code >> 12))) += tail(6)) += tail(0);
  } else {
    (((text += static_cast<char>(0xF0 | (code >> 18))) += tail(12)) += tail(6)) += tail(0);
  }
}

bool is_digit(char symbol) { return symbol >= '0' && symbol <= '9'; }

}  // namespace

void JsonCursor::fail(const std::string& message) const {
  throw Error(name_ + ": header byte " + std::to_string(position_) + ": " + message);
}

void JsonCursor::skip_space() {
  while (position_ < text_.size() && std::string_view(" \t\n\r").find(text_[position_]) != std::string_view::npos) {
    ++position_;
  }
}

bool JsonCursor::take(char symbol) {
  skip_space();
  if (position_ == text_.size() || text_[position_] != symbol) return false;
  ++position_;
  return true;
}

void JsonCursor::expect(char symbol) {
  if (take(symbol)) return;
  if (position_ == text_.size()) fail(std::string("the JSON ends where '") + symbol + "' is due");
  fail(std::string("expected '") + symbol + "'");
}

void JsonCursor::end() {
  skip_space();
  if (position_ != text_.size()) fail("something follows the JSON object");
}

int64_t JsonCursor::natural(std::string_view what) {
  skip_space();
  const size_t start = position_;
  int64_t value = 0;
  while (position_ < text_.size() && is_digit(text_[position_])) {
    const int digit = text_[position_] - '0';
    if (value > (std::numeric_limits<int64_t>::max() - digit) / 10) fail(std::string(what) + " is over 2^63 - 1");
    value = value * 10 + digit;
    ++position_;
  }
  const bool plain =
      position_ == text_.size() || std::string_view(".eE+-").find(text_[position_]) == std::string_view::npos;
  const bool leading_zero = position_ > start + 1 && text_[start] == '0';
  if (position_ == start || !plain || leading_zero) {
    position_ = start;
    fail(std::string(what) + " must be a plain integer of at least 0");
  }
  return value;
}

char JsonCursor::next_in_string() {
  if (position_ == text_.size()) fail("the JSON ends inside a string");
  return text_[position_++];
}

std::string JsonCursor::string(std::string_view what, size_t most_bytes) {
  if (!take('"')) fail(std::string(what) + " must be a string");
  std::string text;
  while (true) {
    const char symbol = next_in_string();
    if (symbol == '"') return text;
    const auto byte = static_cast<unsigned char>(symbol);
    if (symbol == '\\') {
      append_escape(text);
    } else if (byte < 0x20) {
      --position_;
      fail("a control byte in a string; JSON wants it escaped");
    } else if (byte < 0x80) {
      text += symbol;
    } else {
      append_utf8_sequence(byte, text);
    }
    if (text.size() > most_bytes) fail(std::string(what) + " is over " + std::to_string(most_bytes) + " bytes");
  }
}

void JsonCursor::append_escape(std::string& text) {
  const char symbol = next_in_string();
  constexpr std::string_view kSymbols = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (const size_t found = kSymbols.find(symbol); found != std::string_view::npos) {
    text += kMeanings[found];
    return;
  }
  if (symbol != 'u') fail("unknown escape in a string");
  uint32_t code = hex_digits();
  if (code >= 0xD800 && code < 0xE000) {
    if (code >= 0xDC00 || text_.substr(position_, 2) != "\\u") fail("a lone surrogate in a string");
    position_ += 2;
    const uint32_t low = hex_digits();
    if (low < 0xDC00 || low >= 0xE000) fail("a lone surrogate in a string");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  append_code_point(code, text);
}

uint32_t JsonCursor::hex_digits() {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char symbol = next_in_string();
    const char lower = static_cast<char>(symbol | 0x20);
    if (is_digit(symbol)) {
      value = value * 16 + static_cast<uint32_t>(symbol - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<uint32_t>(lower - 'a' + 10);
    } else {
      fail("\\u needs four hexadecimal digits");
    }
  }
  return value;
}

// Lead bytes C0, C1 (over-long) and F5 and up (beyond U+10FFFF) never occur; after E0, ED, F0 and F4 the first
// continuation byte has a narrower range, which keeps out over-long forms, surrogates and what lies beyond.
void JsonCursor::append_utf8_sequence(unsigned char lead, std::string& text) {
  const int tails = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (lead < 0xC2 || lead > 0xF4) fail("the header is not UTF-8");
  text += static_cast<char>(lead);
  for (int i = 0; i < tails; ++i) {
    const auto byte = static_cast<unsigned char>(next_in_string());
    if (byte < least || byte > most) fail("the header is not UTF-8");
    text += static_cast<char>(byte);
    least = 0x80;
    most = 0xBF;
  }
}

}  // namespace cachet::io
