#pragma once

#include <filesystem>

#include "cachet/config/node.h"

namespace cachet::config {

inline constexpr int64_t kMaxRecipeBytes = 1'000'000;
inline constexpr int64_t kMaxRecipes = 64;  // limit for the recipes that are merged into one recipe

/// Reads a recipe and merges it over the recipes of its key `base`: files relative to the recipe, or names of recipes
/// that come with Cachet (named_recipes.h). Removes the key `base`. A table [paper] replaces that of a base as a whole.
/// Throws Error for a file that cannot be read or parsed, and for recipes that name each other in a circle.
Node read_recipe(const std::filesystem::path& path);

}  // namespace cachet::config
