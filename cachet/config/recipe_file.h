#pragma once

#include <filesystem>

#include "cachet/config/node.h"

namespace cachet::config {

inline constexpr int64_t kMaxRecipeBytes = 1'000'000;
inline constexpr int64_t kMaxRecipes = 64;  // maximum number of recipes that are merged into one

/// Reads a recipe and merges it over the recipes of its key `base`: files relative to the recipe, or names of recipes
/// that come with Cachet (named_recipes.h). Removes the key `base`. A table [paper] replaces the whole table [paper] of
/// a base recipe. Throws Error if a file cannot be read or parsed, or if recipes form a circle of bases.
Node read_recipe(const std::filesystem::path& path);

}  // namespace cachet::config
