#pragma once

#include <optional>
#include <string_view>

#include "cachet/config/document.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/image_classification/preprocessing.h"

namespace cachet::tasks {

/// What the recipe of a model folder describes: a model, and what it reads. Of images it says how they become the
/// model's input, of text what kind of task the model is for.
struct ModelRecipe {
  models::ModelPlan plan;
  std::optional<models::ImageClassifierPlan> images{};  // the same, where it looks at images
  Preprocessing preprocessing{};                        // of these
};

/// Whether there can be a model folder of what this ability names.
bool has_model_folder(models::Ability ability);

/// Reads `[model]`, and of the rest what belongs to such a model; `defaults` are those of preparing images. Problems
/// are the document's, which the caller finishes.
ModelRecipe read_model_recipe(config::Document& document, const Preprocessing& defaults = {});

}  // namespace cachet::tasks
