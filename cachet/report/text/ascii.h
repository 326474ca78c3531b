#pragma once

#include <string>
#include <string_view>

namespace cachet::report {

/// For terminals that know no more than ASCII: signs that Cachet writes are spelled out ("±" is "+-", "σ" is "sigma");
/// letters of a user's names and data stay as they are.
std::string ascii_text(std::string_view text);

/// What ascii_text() writes for a code point; empty where it stays as it is.
std::string_view ascii_spelling(char32_t code_point);

}  // namespace cachet::report
