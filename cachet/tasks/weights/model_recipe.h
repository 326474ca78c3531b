#pragma once

#include <optional>
#include <string>

#include "cachet/config/document.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/image_classification/preprocessing.h"

namespace cachet::tasks {

/// The contents of a model folder's recipe: a model, and the preparation of its input.
struct ModelRecipe {
  models::ModelPlan plan;
  std::optional<models::ImageClassifierPlan> classifier{};  // the same plan, if it is an image classifier
  std::string input{};                                      // a JSON object, as ModelFolderFacts::input
  std::string preparation{};                                // preparation of images in words; empty for text
};

/// Whether models with the capability `ability` can be stored as model folders.
bool has_model_folder(models::Capability ability);

/// Reads `[model]`, the kind of its task, and the preparation of images. For a classifier, `defaults` has the values of
/// the preparation for keys that the recipe lacks. Problems are recorded in the document, and the caller must call
/// finish() of the document.
ModelRecipe read_model_recipe(config::Document& document, const Preprocessing& defaults = {});

}  // namespace cachet::tasks
