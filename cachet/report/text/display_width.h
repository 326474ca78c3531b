#pragma once

#include <string>
#include <string_view>

namespace cachet::report {

/// Removes the first code point of `text` and returns it. Returns U+FFFD for a byte that starts no valid sequence.
char32_t take_code_point(std::string_view& text);

void append_code_point(std::string& text, char32_t code_point);

/// Returns the number of terminal columns of a text: 2 for East Asian wide characters and emoji, 0 for combining marks
/// and control characters.
int display_width(std::string_view text);
int display_width(char32_t code_point);

/// Returns the longest beginning of `text` that is at most `columns` terminal columns wide. If the text is cut, it ends
/// with `mark`.
std::string fit_width(std::string_view text, int columns, char32_t mark = U'…');

}  // namespace cachet::report
