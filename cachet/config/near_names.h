#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::config {

/// Returns the names closest to a mistyped one, nearest first, at most `most`. Empty if no name is near.
///
/// A name is near if its Damerau-Levenshtein distance is at most a third of the longer name, or if it begins with the
/// typed word (three letters or more: "vit_small" for "vit_small_patch16_224"). Capitals, '-' and '_' are ignored.
std::vector<std::string> near_names(std::string_view typed, std::span<const std::string> known, size_t most = 3);

/// Returns " (did you mean 'a', 'b' or 'c'?)" for appending to an error message, or an empty string.
std::string suggestion(std::string_view typed, std::span<const std::string> known);

/// Returns the same for names that are already chosen.
std::string did_you_mean(std::span<const std::string> names);

}  // namespace cachet::config
