#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/image_classifier.h"

namespace cachet::models {

/// All model names, sorted, as users type them: "vit_small_patch16_224".
const std::vector<std::string>& model_names();

/// What a data set asks of the model unless the recipe says otherwise.
struct ImageDefaults {
  std::optional<ImageShape> image;
  std::optional<int64_t> classes;
};

/// A model as a recipe describes it, not built yet: reading collects problems, and Document::finish() reports them all
/// before anything is built.
struct ImageClassifierPlan {
  std::string name;
  ImageShape image;
  int64_t classes = 0;
  std::function<std::shared_ptr<ImageClassifier>()> build;
};

/// Reads a `[model]` table: key `name`, then the keys of that model over its defaults. An unknown name is a problem
/// that names the nearest.
ImageClassifierPlan read_image_classifier(const config::View& table, const ImageDefaults& defaults = {});

/// The same for a model named outside a recipe; `table` may hold overrides of its keys.
ImageClassifierPlan read_image_classifier(std::string_view name, const config::View& table,
                                          const ImageDefaults& defaults = {});

}  // namespace cachet::models
