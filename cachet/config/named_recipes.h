#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::config {

inline constexpr std::string_view kRecipeSuffix = ".toml";

/// A recipe that comes with Cachet, or lies below CACHET_RECIPES.
struct NamedRecipe {
  std::string name;  // "vision/demo_plain"
  std::filesystem::path path;
};

/// All of them by name, but for the file `other_than`. Of two with one name the first counts: those of CACHET_RECIPES,
/// then those of this program's installation or source tree.
std::vector<NamedRecipe> named_recipes(const std::filesystem::path& other_than = {});

/// Those that a word means, with or without .toml: the recipe of this name ("vision/demo_plain"), else all whose last
/// part it is ("demo_plain").
std::vector<NamedRecipe> recipes_called(const std::string& word, const std::vector<NamedRecipe>& recipes);

std::string without_recipe_suffix(const std::string& name);

/// "demo_plain" of "vision/demo_plain".
std::string last_part(const std::string& name);

/// " (did you mean 'vision/demo_plain'?)" for a word that names no recipe; an empty string if no name is near.
std::string recipe_suggestion(const std::string& word, const std::vector<NamedRecipe>& recipes);

}  // namespace cachet::config
