#pragma once

#include "app/arguments/model_argument.h"

namespace cachet::app {

/// What read_described_model() takes, as the help of a command describes it.
inline constexpr const char* kDescribedModels =
    "a name that `cachet models` lists, a recipe, the folder of a run, a checkpoint or a model";

/// Whether this is a folder of a run, a checkpoint or a model, and not the name of a model.
bool is_model_on_disk(const std::string& name);

/// The model of that name, else of the run, checkpoint or model in that folder, else of the recipe, not built yet.
/// Throws UsageError where nothing is called so, config::Error for settings that are wrong.
models::ModelPlan read_described_model(const ModelArgument& argument);

}  // namespace cachet::app
