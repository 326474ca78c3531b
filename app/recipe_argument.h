#pragma once

#include <CLI/App.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/train/run_folder.h"

namespace cachet::app {

/// A recipe that comes with Cachet, or lies below CACHET_RECIPES.
struct NamedRecipe {
  std::string name;  // "vision/demo_plain"
  std::filesystem::path path;
};

/// All of them by name. Of two with one name the first counts: those of CACHET_RECIPES, then those of this program's
/// source tree or installation.
std::vector<NamedRecipe> named_recipes();

/// The file that a command line means: the path itself, with or without .toml, else the name of a recipe
/// ("vision/demo_plain"), of which the last part is enough where it is the only one. Throws UsageError with the nearest
/// names.
std::filesystem::path find_recipe(const std::string& word);

/// Adds the option --set for keys of a recipe.
void add_recipe_settings(CLI::App& app, std::vector<std::string>& settings);

/// Adds the argument RUN, a trained model: what tasks::open_saved_run takes.
void add_saved_run(CLI::App& app, std::string& path);

/// Reads a recipe and lays the settings over it.
config::Document read_document(const std::filesystem::path& recipe, const std::vector<std::string>& settings);

/// A recipe's name and text, as run folders keep them.
train::WrittenRecipe written_recipe(const std::filesystem::path& recipe);

}  // namespace cachet::app
