#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace cachet::metrics {

/// Returns the number of bytes of the blank at byte `at` of a UTF-8 text, or 0 if there is no blank. Blanks are defined
/// as in Python's str.split(): ASCII separators and Unicode white space, including no-break spaces.
size_t blank_at(std::string_view text, size_t at);

/// Splits a text at blanks into `words`, and reuses the memory of `words`.
void split_at_blanks(std::string_view text, std::vector<std::string_view>& words);

}  // namespace cachet::metrics
