#pragma once

#include <string>
#include <string_view>

namespace cachet::report {

/// Returns a text for ASCII terminals. Signs that Cachet writes are spelled out ("±" is "+-", "σ" is "sigma"); letters
/// in a user's names and data do not change.
std::string ascii_text(std::string_view text);

/// Returns the spelling of a code point in ascii_text(), or an empty text if the code point does not change.
std::string_view ascii_spelling(char32_t code_point);

}  // namespace cachet::report
