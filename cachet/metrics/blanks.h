#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace cachet::metrics {

/// The bytes of the blank at a position of a text in UTF-8, 0 if there is none. Blanks are what Python's
/// str.split() takes for them: the separators of ASCII and Unicode's white space, no-break spaces among them.
size_t blank_at(std::string_view text, size_t at);

/// What stands between the blanks, in `words`, whose memory is used again.
void split_at_blanks(std::string_view text, std::vector<std::string_view>& words);

}  // namespace cachet::metrics
