#pragma once

#include <optional>

#include "app/arguments/model_argument.h"
#include "cachet/tasks/recipe.h"

namespace cachet::app {

/// The arguments that read_described_model() accepts, and exports, as a text for the help of a command.
inline constexpr const char* kDescribedModels =
    "a name that `cachet models` lists, a recipe, an export, or the folder of a run, of a checkpoint or of a model";

/// Whether `name` is the folder of a run, a checkpoint or a model, and not a model's name.
bool is_model_on_disk(const std::string& name);

/// Reads the recipe of a run, checkpoint or model, or a recipe. Returns std::nullopt for a model's name. Throws
/// UsageError for an unknown name, and config::Error for invalid settings.
std::optional<tasks::RecipePlan> read_described_recipe(const ModelArgument& argument);

/// Reads a model by its name, from the folder of a run, checkpoint or model, or from a recipe. Does not build the
/// model. Throws UsageError for an unknown name, and config::Error for invalid settings.
models::ModelPlan read_described_model(const ModelArgument& argument);

}  // namespace cachet::app
