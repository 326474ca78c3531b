#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::config {

/// Whether a shell pattern matches the whole name (fnmatch(3)). `*` matches any characters, and `?` matches one
/// character. `[ab]`, `[a-z]` and `[!a]` match one character of a set, and `\` makes the next character literal. In a
/// path, `*` also matches '/': "vision*" matches all names below "vision".
bool glob_matches(std::string_view pattern, std::string_view name);

/// Returns the names that a pattern matches, in the order of `names`. If the pattern is empty, all names match.
std::vector<std::string> glob_filter(std::string_view pattern, std::span<const std::string> names);

}  // namespace cachet::config
