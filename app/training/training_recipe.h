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

/// A parsed recipe, and the files that its run stores with it.
struct ReadRecipe {
  config::Document document;
  tasks::RecipePlan plan;
  std::map<std::string, std::string> files{};
};

/// Reads a job's recipe. `seed`, if given, replaces the recipe's seed. For a resumed run, options that the run does not
/// have get the values with which the run was made. A classifier that starts from weights has as many classes as its
/// data, and a note of the plan reports a different number in the recipe.
ReadRecipe read_recipe(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                       const std::optional<std::filesystem::path>& resumed = std::nullopt);

/// Reads a job's recipe for training, like read_recipe(). Also checks the recipe against the files that it names (a
/// subword model), or against their copies in the resumed run. Throws io::Error if a file cannot be read.
ReadRecipe read_recipe_for_run(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                               const std::optional<std::filesystem::path>& resumed);

/// Compares the parts of a step (train.state) in `run` with the parts in the recipe, without the settings that change
/// them. If the parts differ, returns a line for the user.
std::optional<std::string> other_parts_note(const TrainingJob& job, const TrainArguments& arguments,
                                            const tasks::RecipePlan& run);

}  // namespace cachet::app
