#include "cachet/io/json/json_cursor.h"

#include <charconv>
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
  throw Error(name_ + ": " + part_ + " byte " + std::to_string(position_) + ": " + message);
}

void JsonCursor::skip_space() {
  const auto is_space = [](char symbol) { return symbol == ' ' || symbol == '\n' || symbol == '\r' || symbol == '\t'; };
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
}

bool JsonCursor::take(char symbol) {
  skip_space();
  if (position_ == text_.size() || text_[position_] != symbol) return false;
  ++position_;
  return true;
}

void JsonCursor::expect(char symbol) {
  if (take(symbol)) return;
  if (position_ == text_.size()) fail(std::string("the JSON ends, but '") + symbol + "' is missing");
  fail(std::string("expected '") + symbol + "'");
}

void JsonCursor::end() {
  skip_space();
  if (position_ != text_.size()) fail("the text continues after the JSON object");
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

char JsonCursor::peek() {
  skip_space();
  return position_ < text_.size() ? text_[position_] : '\0';
}

bool JsonCursor::take_word(std::string_view word) {
  skip_space();
  if (!text_.substr(position_).starts_with(word)) return false;
  position_ += word.size();
  return true;
}

size_t JsonCursor::skip_digits() {
  const size_t start = position_;
  while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
  return position_ - start;
}

void JsonCursor::skip_number() {
  const size_t start = position_;
  const auto at = [&](std::string_view symbols) {
    return position_ < text_.size() && symbols.find(text_[position_]) != std::string_view::npos;
  };
  if (at("-")) ++position_;
  const bool zero = at("0");
  const size_t digits = skip_digits();
  bool good = digits == 1 || (digits > 1 && !zero);
  if (good && at(".")) {
    ++position_;
    good = skip_digits() > 0;
  }
  if (good && at("eE")) {
    ++position_;
    if (at("+-")) ++position_;
    good = skip_digits() > 0;
  }
  if (!good) {
    position_ = start;
    fail("this is not a JSON value");
  }
}

double JsonCursor::number(std::string_view what) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (take_word("NaN")) return std::numeric_limits<double>::quiet_NaN();
  if (take_word("Infinity")) return kInfinity;
  if (take_word("-Infinity")) return -kInfinity;
  if (const char first = peek(); first != '-' && !is_digit(first)) fail(std::string(what) + " must be a number");
  const size_t start = position_;
  skip_number();
  double value = 0;
  const char* const begin = text_.data() + start;
  const auto result = std::from_chars(begin, text_.data() + position_, value);
  if (result.ec != std::errc::result_out_of_range) return value;
  // Too small or too large: the exponent decides, or the number of digits.
  const std::string_view text = text_.substr(start, position_ - start);
  const size_t exponent = text.find_first_of("eE");
  const bool fraction = text.starts_with("0.") || text.starts_with("-0.");
  if (exponent == std::string_view::npos ? fraction : text.substr(exponent + 1).starts_with('-')) return 0;
  return *begin == '-' ? -kInfinity : kInfinity;
}

void JsonCursor::skip_value(int depth) {
  const char first = peek();
  if (first == '"') {
    string("a string", text_.size());
  } else if (first == '[' || first == '{') {
    if (depth == 0) fail("objects and arrays are nested too deeply");
    const bool object = first == '{';
    const char last = object ? '}' : ']';
    expect(first);
    if (take(last)) return;
    do {
      if (object) {
        string("a key", text_.size());
        expect(':');
      }
      skip_value(depth - 1);
    } while (take(','));
    expect(last);
  } else if (first == '-' || is_digit(first) || first == 'N' || first == 'I') {
    number("a value");
  } else if (!take_word("true") && !take_word("false") && !take_word("null")) {
    fail(position_ == text_.size() ? "the JSON ends, but a value is missing" : "this is not a JSON value");
  }
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
      fail("a string has a control byte that is not escaped, as JSON requires");
    } else if (byte < 0x80) {
      text += symbol;
    } else {
      append_utf8_sequence(byte, text);
    }
    if (text.size() > most_bytes) fail(std::string(what) + " has more than " + std::to_string(most_bytes) + " bytes");
  }
}

void JsonCursor::append_escape(std::string& text) {
  const char symbol = next_in_string();
  constexpr std::string_view kSymbols = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (const size_t found = kSymbols.find(symbol); found != std::string_view::npos) {
    text += kMeanings[found];
    return;
  }
  if (symbol != 'u') fail("a string has an unknown escape");
  uint32_t code = hex_digits();
  if (code >= 0xD800 && code < 0xE000) {
    if (code >= 0xDC00 || text_.substr(position_, 2) != "\\u") fail("a string has a surrogate without its pair");
    position_ += 2;
    const uint32_t low = hex_digits();
    if (low < 0xDC00 || low >= 0xE000) fail("a string has a surrogate without its pair");
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
  if (lead < 0xC2 || lead > 0xF4) fail("the " + part_ + " is not UTF-8");
  text += static_cast<char>(lead);
  for (int i = 0; i < tails; ++i) {
    const auto byte = static_cast<unsigned char>(next_in_string());
    if (byte < least || byte > most) fail("the " + part_ + " is not UTF-8");
    text += static_cast<char>(byte);
    least = 0x80;
    most = 0xBF;
  }
}

}  // namespace cachet::io
