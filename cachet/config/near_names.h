#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::config {

/// Returns at most `most` known names close to a mistyped name, nearest first, or an empty list if no name is near.
///
/// A name is near if its Damerau-Levenshtein distance is at most a third of the longer name, or if it begins with the
/// typed word (three letters or more: "vit_small" for "vit_small_patch16_224"). If no name is one error away, the
/// function also compares beginnings of names ("vit_tinny" for "vit_tiny_patch16_224"). Ignores case; '-' equals '_'.
std::vector<std::string> near_names(std::string_view typed, std::span<const std::string> known, size_t most = 3);

/// Returns " (did you mean 'a', 'b' or 'c'?)" for the end of an error message, or "" if no known name is near.
std::string suggestion(std::string_view typed, std::span<const std::string> known);

/// Returns the text of suggestion() for the suggestions `names`.
std::string did_you_mean(std::span<const std::string> names);

}  // namespace cachet::config
