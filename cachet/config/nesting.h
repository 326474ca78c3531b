#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cachet::config {

/// The greatest depth of nested tables and lists. In the recipes of Cachet's repository, tables and lists are nested
/// four or five levels deep.
inline constexpr int64_t kMaxNesting = 16;

/// Returns the number of the first line that nests brackets or dotted keys deeper than `kMaxNesting`, if there is one.
///
/// A TOML parser calls itself for each bracket, and the destructor of its tree calls itself for each dot of a key. A
/// text of one megabyte could cause half a million nested calls. line_nested_too_deep() checks a text before it is
/// parsed, without recursion. The function counts brackets and dots outside TOML's strings and comments.
std::optional<int64_t> line_nested_too_deep(std::string_view toml);

}  // namespace cachet::config
