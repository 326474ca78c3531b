#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cachet::config {

/// How deep tables and lists may lie in each other; our recipes need four or five.
inline constexpr int64_t kMaxNesting = 16;

/// The first line of a TOML text that nests brackets or dotted keys deeper than `kMaxNesting`, if there is one.
///
/// A parser recurses into brackets and its tree is destroyed by recursion, a level a dot: a text of a megabyte could
/// ask for half a million levels. This looks at a text without recursion before any parser does, and knows no more of
/// TOML than strings and comments.
std::optional<int64_t> line_nested_too_deep(std::string_view toml);

}  // namespace cachet::config
