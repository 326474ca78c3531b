#pragma once

#include <filesystem>

#include "cachet/config/node.h"

namespace cachet::config {

inline constexpr int64_t kMaxRecipeBytes = 1'000'000;
inline constexpr int64_t kMaxRecipes = 64;  // that one recipe may be merged from

/// Reads a recipe and everything that its key `base` names, merged: files relative to the recipe, or recipes that come
/// with Cachet by name (named_recipes.h). The key itself is taken out. Of tables [paper], the nearest one is left,
/// whole. Throws Error for a file that cannot be read or parsed, and for recipes that name each other in a circle.
Node read_recipe(const std::filesystem::path& path);

}  // namespace cachet::config
