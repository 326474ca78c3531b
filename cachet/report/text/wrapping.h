#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::report {

/// Lines of at most `columns` (display width), broken at blanks and after the slashes of paths; a word that is wider is
/// broken, too, after a sign if it has one. One empty line for a text without words.
std::vector<std::string> wrapped_lines(std::string_view text, int columns);

/// The least width in which no word of the text is broken.
int widest_word(std::string_view text);

}  // namespace cachet::report
