#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::config {

/// The names closest to a mistyped one, nearest first, at most `most`; none when nothing is near.
///
/// Near is a Damerau-Levenshtein distance of at most a third of the longer name, or a name that begins with what was
/// typed (three letters or more: "vit_small" for "vit_small_patch16_224"). Capitals, '-' and '_' make no difference.
std::vector<std::string> near_names(std::string_view typed, std::span<const std::string> known, size_t most = 3);

/// " (did you mean 'a', 'b' or 'c'?)", or an empty string: what an error message appends.
std::string suggestion(std::string_view typed, std::span<const std::string> known);

/// The same for names that are already chosen.
std::string did_you_mean(std::span<const std::string> names);

}  // namespace cachet::config
