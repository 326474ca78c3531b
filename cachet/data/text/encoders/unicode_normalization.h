#pragma once

#include <string>
#include <string_view>

namespace cachet::data {

/// The form in which text is read, since Unicode has several spellings for one text: unchanged, or one of the forms of
/// Unicode Standard Annex 15. `nfc` composes characters ("e" and a circumflex become one character). `nfkc` also
/// replaces characters that differ from others only in their look ("½" becomes "1⁄2", a no-break space a space).
enum class TextNormalization { none, nfc, nfkc };
const char* to_string(TextNormalization form);  // "none", "nfc", "nfkc"

/// Returns the text in that form. Bytes that are not UTF-8 stay as they are and separate the text around them. So do
/// control characters, including NUL. Line ends and a byte-order mark do not change. The time is linear in the length,
/// apart from the logarithm of the longest sequence of combining marks.
std::string normalized(std::string_view text, TextNormalization form);

}  // namespace cachet::data
