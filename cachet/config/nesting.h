#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cachet::config {

/// The greatest depth of nested tables and lists. The recipes of this repository need four or five levels.
inline constexpr int64_t kMaxNesting = 16;

/// Returns the first line of a TOML text that nests brackets or dotted keys deeper than `kMaxNesting`, if there is one.
///
/// A parser recurses into brackets, and the destruction of its tree recurses once for each dot. A text of a megabyte
/// could need half a million levels. This function checks a text before it is parsed, without recursion. The only parts
/// of TOML's syntax that it knows are strings and comments.
std::optional<int64_t> line_nested_too_deep(std::string_view toml);

}  // namespace cachet::config
