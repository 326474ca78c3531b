#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::config {

/// The names closest to a mistyped one, nearest first, at most `most`; none when nothing is near (Damerau-Levenshtein
/// distance over a third of the length).
std::vector<std::string> near_names(std::string_view typed, std::span<const std::string> known, size_t most = 3);

/// " (did you mean 'a' or 'b'?)", or an empty string: what an error message appends.
std::string suggestion(std::string_view typed, std::span<const std::string> known);

}  // namespace cachet::config
