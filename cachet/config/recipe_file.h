#pragma once

#include <filesystem>

#include "cachet/config/node.h"

namespace cachet::config {

inline constexpr int64_t kMaxRecipeBytes = 1'000'000;
inline constexpr int64_t kMaxRecipes = 64;  // limit for the recipes that are merged into one recipe

/// Reads a recipe and all recipes of its key `base`, merged: files relative to the recipe, or recipes that come with
/// Cachet by name (named_recipes.h). Removes the key. Of several tables [paper], the whole nearest one is left. Throws
/// Error for a file that cannot be read or parsed, and for recipes that name each other in a circle.
Node read_recipe(const std::filesystem::path& path);

}  // namespace cachet::config
