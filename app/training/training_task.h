#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/training/training_recipe.h"
#include "cachet/tasks/task.h"

namespace cachet::app {

/// Builds the task to train. Unless a run with a checkpoint is resumed, takes initial weights from the source that the
/// recipe names, and prints their source.
std::unique_ptr<tasks::Task> task_to_train(const TrainArguments& arguments, const tasks::RecipePlan& plan,
                                           const std::optional<std::filesystem::path>& resumed);

/// Sets the values that depend on the length of the run (model.norm.warmup = "10 %"), before the folder of a new run is
/// created. Prints a line for each value. The run's log also contains these lines.
void settle_length(ReadRecipe& recipe, tasks::Task& task);

/// Returns a note if the run chooses its device (train.device = "auto") and uses the CPU although the machine has a
/// GPU: the reason, and what to do.
std::optional<std::string> unused_gpu_note(const tasks::RecipePlan& plan);

/// Returns a note if the recipe uses bfloat16 and it is slower on this processor. Measures for less than 0.5 seconds.
std::optional<std::string> precision_note(const tasks::RecipePlan& plan);

}  // namespace cachet::app
