#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::report {

/// Wraps text to lines of at most `columns` display columns, at blanks and after slashes of paths. Breaks a word that
/// is wider than a line, if possible after a sign. Returns one empty line for a text without words.
std::vector<std::string> wrapped_lines(std::string_view text, int columns);

/// Returns the least width at which no word of the text is broken.
int widest_word(std::string_view text);

}  // namespace cachet::report
