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

/// The file that a command line means: the path itself, with or without .toml, else the name of a recipe
/// ("vision/demo_plain"), of which the last part is enough where it is the only one; none where there is no such
/// recipe. A recipe is also found by the name that it had before. Throws UsageError if several recipes have that last
/// part.
std::optional<std::filesystem::path> known_recipe(const std::string& word);

/// The same if nothing else can be meant, with one note on standard error if the name is an earlier one. Throws
/// UsageError with the nearest names if there is no such recipe.
std::filesystem::path find_recipe(const std::string& word);

/// Adds the option --set for keys of a recipe.
void add_recipe_settings(CLI::App& app, std::vector<std::string>& settings);

/// A trained or imported model as a command line names it, and what lies over its recipe.
struct SavedRunArgument {
  std::string path, data, device = "auto";
  std::vector<std::string> settings;

  /// The settings, with the folder that --data names.
  std::vector<std::string> all_settings() const;
};

/// Adds the argument RUN, which the help describes as `what`, and the options --data and --set.
void add_saved_model(CLI::App& app, SavedRunArgument& argument, const char* what);
/// The same for what tasks::open_saved_run takes, and --device.
void add_saved_run(CLI::App& app, SavedRunArgument& argument);

/// Its task with the weights, in evaluation mode, on the device that the command line names.
std::unique_ptr<tasks::Task> load(const tasks::SavedRun& saved, const SavedRunArgument& argument, tasks::Splits splits);

/// Throws UsageError if neither the recipe nor the command line names the folder of the data.
void require_data(const tasks::SavedRun& saved, const SavedRunArgument& argument);

/// Reads a recipe and lays the settings over it.
config::Document read_document(const std::filesystem::path& recipe, const std::vector<std::string>& settings);

/// The same of a recipe that was made, and lies in no file. Its name names it in origins.
config::Document read_document(const train::WrittenRecipe& recipe, const std::vector<std::string>& settings);

/// A recipe's name and text, as run folders keep them.
train::WrittenRecipe written_recipe(const std::filesystem::path& recipe);

}  // namespace cachet::app
