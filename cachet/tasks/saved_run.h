#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

/// A trained model on the disk: which checkpoint, and what it was made with.
struct SavedRun {
  std::filesystem::path run, checkpoint;
  config::Document recipe;  // as resolved for the run, with the settings over it
  RecipePlan plan;
};

/// Finds what a path means: a run's folder (its best checkpoint, else its last) or one checkpoint of it. `settings` lie
/// over the run's recipe, as --set does. Throws std::runtime_error where there is no checkpoint, config::Error for
/// settings that are wrong.
SavedRun open_saved_run(const std::filesystem::path& path, const std::vector<std::string>& settings = {});

/// Builds its task and loads the weights, the averaged ones where there are any; the model is in evaluation mode.
/// Throws train::DamagedCheckpoint, and io::Error for weights that do not fit the recipe.
std::unique_ptr<ImageClassification> load(const SavedRun& saved, Splits splits = Splits::test);

}  // namespace cachet::tasks
