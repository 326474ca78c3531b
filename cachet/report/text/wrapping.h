#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::report {

/// Wraps text to lines of at most `columns` display columns, at blanks and after slashes of paths. A word that is wider
/// than a line is broken, if possible after a punctuation mark such as `-` or `_`. Returns one empty line for a text
/// without words.
std::vector<std::string> wrapped_lines(std::string_view text, int columns);

/// Returns the least width at which no word of the text is broken.
int widest_word(std::string_view text);

}  // namespace cachet::report
