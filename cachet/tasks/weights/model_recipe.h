#pragma once

#include <optional>
#include <string>

#include "cachet/config/document.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/image_classification/preprocessing.h"

namespace cachet::tasks {

/// What the recipe of a model folder describes: a model, and how a sample becomes its input.
struct ModelRecipe {
  models::ModelPlan plan;
  std::optional<models::ImageClassifierPlan> classifier{};  // the same, where it is one of images
  std::string input{};                                      // a JSON object, as ModelFolderFacts has it
  std::string preparation{};                                // of images, in words; empty of text
};

/// Whether there can be a model folder of what this ability names.
bool has_model_folder(models::Capability ability);

/// Reads `[model]`, and of the rest what belongs to such a model: the kind of its task, and how images are prepared;
/// `defaults` are a classifier's. Problems are the document's, which the caller finishes.
ModelRecipe read_model_recipe(config::Document& document, const Preprocessing& defaults = {});

}  // namespace cachet::tasks
