#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cachet::config {

/// Returns the index of the first byte that does not begin a valid UTF-8 sequence, or npos if the text is valid.
/// Overlong forms, surrogates and code points above U+10FFFF are invalid.
size_t first_invalid_utf8(std::string_view text);

/// Replaces every control character, and every byte that is not UTF-8, by '?'. You can print the returned text in a
/// terminal or write it into a comment.
std::string printable(std::string_view text);

/// Escapes the parts of a text that a terminal would obey or that are invisible: control characters ("\x1b", "\r",
/// "\u009b"), marks that change the direction of a line ("\u202e"), and bytes that are not UTF-8 ("\xff"). The control
/// characters in `kept` stay.
std::string visible(std::string_view text, std::string_view kept = "\n\t");

/// Repairs a text that arrives in pieces: each byte that is not valid UTF-8 becomes U+FFFD. A UTF-8 sequence may begin
/// in one piece and end in a later piece.
class Utf8Repair {
 public:
  /// Adds a piece of the text. Returns the text that is complete now and was not returned before.
  std::string add(std::string_view piece);
  /// After the last piece, returns U+FFFD for each byte of a UTF-8 sequence that did not end.
  std::string finish();

 private:
  std::string held_;  // the bytes of an incomplete sequence
};

}  // namespace cachet::config
