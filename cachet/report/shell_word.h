#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::report {

/// Returns a word of a command line, in quotes if it has spaces or characters with a meaning in a shell.
std::string shell_word(std::string_view word);

/// Returns a command line: the words `words`, quoted if needed, with spaces between them.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace cachet::report
