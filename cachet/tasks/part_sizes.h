#pragma once

#include <optional>
#include <string>

#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

/// Describes the parts (micro-batches of a process) of a recipe's steps: "8 states of 64 images" if each part has its
/// own state of the model (train.state = "separate"), "8 parts of 64 images" if train.state is "first". Returns an
/// empty value if all parts use the same state of the model.
std::optional<std::string> part_sizes_text(const RecipePlan& plan);

/// If a run divides a step differently from its recipe, returns "the run has 64 states of 16 images, but the recipe has
/// 8 of 128". `recipe` is the plan for the recipe's own number of processes (train::processes_of_recipe).
std::optional<std::string> other_parts_note(const RecipePlan& run, const RecipePlan& recipe);

}  // namespace cachet::tasks
