#pragma once

#include <string>
#include <string_view>

namespace cachet::report {

/// Takes the first code point off `text`. A byte that starts no well-formed sequence is U+FFFD.
char32_t take_code_point(std::string_view& text);

void append_code_point(std::string& text, char32_t code_point);

/// Columns that a terminal gives the text: 2 for East Asian wide characters and emoji, 0 for combining marks and
/// control characters.
int display_width(std::string_view text);
int display_width(char32_t code_point);

/// The longest beginning that is at most `columns` wide; where something is cut, its last column is `mark`.
std::string fit_width(std::string_view text, int columns, char32_t mark = U'…');

}  // namespace cachet::report
