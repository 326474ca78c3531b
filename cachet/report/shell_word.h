#pragma once

#include <string>
#include <string_view>

namespace cachet::report {

/// A word of a command line as a shell takes it: in quotes where it has spaces or signs that mean something there.
std::string shell_word(std::string_view word);

}  // namespace cachet::report
