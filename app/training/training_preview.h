#pragma once

#include <cstddef>

#include "app/training/training_recipe.h"

namespace cachet::app {

/// Runs `cachet train --print` or `--dry-run`. `runs` is the number of seeds with which the recipe would be trained.
int preview_training(const TrainArguments& arguments, const TrainingJob& job, const config::Document& document,
                     const tasks::RecipePlan& plan, size_t runs);

}  // namespace cachet::app
