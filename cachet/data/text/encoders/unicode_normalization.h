#pragma once

#include <string>
#include <string_view>

namespace cachet::data {

/// The form in which text is read: unchanged, or a form of Unicode Standard Annex 15. Unicode can spell one text in
/// several ways. `nfc` composes characters ("e" and a circumflex become one character). `nfkc` also replaces characters
/// that differ from others only in their look ("½" becomes "1⁄2", and a no-break space becomes a space).
enum class TextNormalization { none, nfc, nfkc };
const char* to_string(TextNormalization form);  // "none", "nfc" or "nfkc"

/// Returns the text in the Unicode normalization form `form`. Bytes that are not UTF-8, and control characters
/// (including NUL), do not change; the texts before and after them are normalized separately. Line ends and a
/// byte-order mark do not change. The time is proportional to the length of the text, and to the logarithm of the
/// longest run of combining marks.
std::string normalized(std::string_view text, TextNormalization form);

}  // namespace cachet::data
