#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::config {

/// Whether a pattern of a shell matches the whole name (fnmatch(3)): `*` any characters, `?` one, `[ab]`, `[a-z]`,
/// `[!a]` one of a set, `\` takes the next character as it is. In a path `*` crosses '/', so that "vision*" lists all
/// below it.
bool glob_matches(std::string_view pattern, std::string_view name);

/// The names that a pattern matches, in their order; all for an empty pattern.
std::vector<std::string> glob_filter(std::string_view pattern, std::span<const std::string> names);

}  // namespace cachet::config
