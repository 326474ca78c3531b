#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cachet::io {

/// Reads JSON text piece by piece, strictly (RFC 8259, valid UTF-8, no lone surrogates) and without recursion. Memory
/// is allocated only for returned strings. The caller requests the structure that it expects; any other structure is
/// an error. All functions throw io::Error. If `part` is "header", an example of the message is "<name>: header byte
/// 17: expected ':'".
class JsonCursor {
 public:
  JsonCursor(std::string_view text, std::string_view name, std::string_view part = "header")
      : text_(text), name_(name), part_(part) {}

  /// Skips white space, then reads `symbol`. Throws an error if the next symbol is not `symbol`.
  void expect(char symbol);
  /// Skips white space, then reads `symbol` if it is next. Returns whether it was next.
  bool take(char symbol);
  /// Reads a string of at most `most_bytes` bytes after decoding. `what` names the string in messages.
  std::string string(std::string_view what, size_t most_bytes);
  /// Reads a plain integer 0 ... 2^63 - 1: no sign, fraction, exponent or leading zero.
  int64_t natural(std::string_view what);
  /// Reads any number; a number too large for a double becomes infinite. Also reads NaN, Infinity and -Infinity, which
  /// Python writes although they are not JSON: the caller must check the number.
  double number(std::string_view what);
  /// Returns the next symbol without reading it, or 0 at the end.
  char peek();
  /// Reads `word` (true, false, null) if it is next. Returns whether it was next.
  bool take_word(std::string_view word);
  /// Skips a value of any type. Objects and arrays may be nested at most `depth` levels deep.
  void skip_value(int depth = 16);
  /// Throws an error if anything but white space follows in the text.
  void end();

  [[noreturn]] void fail(const std::string& message) const;

 private:
  void skip_space();
  char next_in_string();
  void append_escape(std::string& text);
  uint32_t hex_digits();
  void skip_number();
  size_t skip_digits();
  void append_utf8_sequence(unsigned char lead, std::string& text);

  std::string_view text_;
  std::string name_, part_;
  size_t position_ = 0;
};

}  // namespace cachet::io
