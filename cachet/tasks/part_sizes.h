#pragma once

#include <optional>
#include <string>

#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

/// If parts have states of their own (train.state), describes the steps of a recipe: "8 states of 64 images". If
/// train.state is "first", the description is "8 parts of 64 images". Returns an empty value if all parts have one
/// state in common.
std::optional<std::string> part_sizes_text(const RecipePlan& plan);

/// Returns a line for the user if a run and its recipe divide the steps differently: "64 states of 16 images; the
/// recipe has 8 of 128". `recipe` is the plan for the recipe's own number of processes (train::processes_of_recipe).
std::optional<std::string> other_parts_note(const RecipePlan& run, const RecipePlan& recipe);

}  // namespace cachet::tasks
