#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::report {

/// A word of a command line as a shell takes it: in quotes where it has spaces or signs that mean something there.
std::string shell_word(std::string_view word);

/// A whole command line: these words with blanks between them.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace cachet::report
