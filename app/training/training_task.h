#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/training/training_recipe.h"
#include "cachet/tasks/task.h"

namespace cachet::app {

/// Builds the task to train. If no run with a checkpoint is resumed, the task takes its weights from the source that
/// the recipe names, and prints which weights it took.
std::unique_ptr<tasks::Task> task_to_train(const TrainArguments& arguments, const tasks::RecipePlan& plan,
                                           const std::optional<std::filesystem::path>& resumed);

/// Settles, before the folder of a new run is made, the values that depend on the length of the run
/// (model.norm.warmup = "10 %"). Prints a line for each, which the log of the run contains too.
void settle_length(ReadRecipe& recipe, tasks::Task& task);

/// A line if the recipe asks for bfloat16 and this processor is slower with it. Measures for less than half a second.
std::optional<std::string> precision_note(const tasks::RecipePlan& plan);

}  // namespace cachet::app
