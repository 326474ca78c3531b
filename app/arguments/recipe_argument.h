#pragma once

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::app {

/// Returns the recipe file for `word`: a path, with or without .toml, or else the name of a
/// recipe ("vision/demo_plain"). The last part of a name is enough if it is unique; otherwise,
/// throws UsageError. Also finds a recipe by its earlier name. Empty if there is no such
/// recipe.
std::optional<std::filesystem::path> known_recipe(const std::string& word);

/// Returns the result of known_recipe(). Notes an earlier name once on standard error. If there is no such recipe,
/// throws UsageError with the nearest names.
std::filesystem::path find_recipe(const std::string& word);

/// Adds the option --set for keys of a recipe.
void add_recipe_settings(CLI::App& app, std::vector<std::string>& settings);

/// A trained or imported model on a command line, and the settings that override its recipe.
struct SavedRunArgument {
  std::string path, data, device = "auto";
  std::vector<std::string> settings;

  /// Returns the settings, with the folder of --data as data.root.
  std::vector<std::string> all_settings() const;
};

/// Adds the argument RUN, with `what` as its help text, and the options --data and --set.
void add_saved_model(CLI::App& app, SavedRunArgument& argument, const char* what);
/// Adds the argument RUN, as tasks::open_saved_run takes it, and the options --data, --set and --device.
void add_saved_run(CLI::App& app, SavedRunArgument& argument);

/// Returns the task of a saved run with its weights, in evaluation mode, on the device of the command line.
std::unique_ptr<tasks::Task> load(const tasks::SavedRun& saved, const SavedRunArgument& argument, tasks::Splits splits);

/// Throws UsageError if neither the recipe nor the command line names the folder of the data.
void require_data(const tasks::SavedRun& saved, const SavedRunArgument& argument);

/// Reads a recipe and applies the settings to it.
config::Document read_document(const std::filesystem::path& recipe, const std::vector<std::string>& settings);

/// Reads a generated recipe, which has no file, and applies the settings. Origins of values contain the recipe's name.
config::Document read_document(const train::WrittenRecipe& recipe, const std::vector<std::string>& settings);

/// Returns a recipe's name and text, as run folders store them.
train::WrittenRecipe written_recipe(const std::filesystem::path& recipe);

}  // namespace cachet::app
