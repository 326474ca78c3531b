#pragma once

#include <optional>
#include <string>

#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

/// How the steps of a recipe are cut, if parts have states of their own (train.state): "8 states of 64 images". With
/// "first", "8 parts of 64 images". Nothing if all parts share one state.
std::optional<std::string> part_sizes_text(const RecipePlan& plan);

/// A line for the user if a run cuts its steps otherwise than its recipe does: "64 states of 16 images; the recipe has
/// 8 of 128". `recipe` has the number of processes that the recipe counts with (train::processes_of_recipe).
std::optional<std::string> other_parts_note(const RecipePlan& run, const RecipePlan& recipe);

}  // namespace cachet::tasks
