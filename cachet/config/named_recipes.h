#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::config {

inline constexpr std::string_view kRecipeSuffix = ".toml";

/// A recipe that comes with Cachet, or is in a folder below CACHET_RECIPES.
struct NamedRecipe {
  std::string name;  // name below the folder of recipes, without .toml: "vision/demo_plain"
  std::filesystem::path path;
};

/// Returns all recipes except the file `other_than`, sorted by name. If several recipes have the same name, only the
/// first is returned. CACHET_RECIPES is searched before the installation or source tree of this program.
std::vector<NamedRecipe> named_recipes(const std::filesystem::path& other_than = {});

/// Returns the recipes with the name `word`, which may end with .toml. If `word` is a recipe's full name
/// ("vision/demo_plain"), returns only this recipe, otherwise all recipes with this name in any folder ("demo_plain").
std::vector<NamedRecipe> recipes_called(const std::string& word, const std::vector<NamedRecipe>& recipes);

std::string without_recipe_suffix(const std::string& name);

/// Returns the last part of a name: "demo_plain" for "vision/demo_plain".
std::string last_part(const std::string& name);

/// Returns " (did you mean 'vision/demo_plain'?)" for a word that names no recipe, or "" if no name is similar.
std::string recipe_suggestion(const std::string& word, const std::vector<NamedRecipe>& recipes);

}  // namespace cachet::config
