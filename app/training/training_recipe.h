#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "app/training/training_job.h"
#include "cachet/config/document.h"
#include "cachet/tasks/recipe.h"

namespace cachet::app {

/// A recipe that was read, and the files that its run saves with it.
struct ReadRecipe {
  config::Document document;
  tasks::RecipePlan plan;
  std::map<std::string, std::string> files{};
};

/// Reads a job's recipe, with `seed` instead of its own if one is given. If a run is resumed, options that the run does
/// not have get the values with which it was made. If a classifier starts from weights, it has as many classes as its
/// data, and a note of the plan reports that the recipe names another number.
ReadRecipe read_recipe(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                       const std::optional<std::filesystem::path>& resumed = std::nullopt);

/// Reads a job's recipe for training: as read_recipe(), and checks the recipe against the files that it names (a
/// subword model), or against their copies in the run that is resumed. Throws io::Error if a file cannot be read.
ReadRecipe read_recipe_for_run(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                               const std::optional<std::filesystem::path>& resumed);

/// A line for the user if the parts of a step (train.state) differ from those of the recipe without the settings that
/// change them.
std::optional<std::string> other_parts_note(const TrainingJob& job, const TrainArguments& arguments,
                                            const tasks::RecipePlan& run);

}  // namespace cachet::app
