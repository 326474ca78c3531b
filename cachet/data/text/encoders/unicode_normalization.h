#pragma once

#include <string>
#include <string_view>

namespace cachet::data {

/// Which of the spellings that Unicode takes for one text is read: as the text is given, or in one of the forms of
/// Unicode Standard Annex 15. `nfc` composes what can be composed ("e" and a circumflex become one character); `nfkc`
/// also replaces characters that stand for the look of others ("½" becomes "1⁄2", a no-break space a space).
enum class TextNormalization { none, nfc, nfkc };
const char* to_string(TextNormalization form);  // "none", "nfc", "nfkc"

/// The text in that form. Bytes that are not UTF-8 stay as they are, one by one, and part the text; so do control
/// characters, NUL among them. No line end comes or goes, and a byte-order mark stays. The time grows with the length
/// but for the logarithm of the longest row of combining marks.
std::string normalized(std::string_view text, TextNormalization form);

}  // namespace cachet::data
