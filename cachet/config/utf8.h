#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cachet::config {

/// The index of the first byte that begins no UTF-8 sequence (overlong forms, surrogates and what lies above U+10FFFF
/// are none); npos when the text is valid.
size_t first_invalid_utf8(std::string_view text);

/// The text with every control character, and every byte that is no UTF-8, as '?': safe in a terminal and in a comment.
std::string printable(std::string_view text);

}  // namespace cachet::config
