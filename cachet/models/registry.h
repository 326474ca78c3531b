#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/models/language/language_model.h"
#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/language/translation_model.h"
#include "cachet/models/vision/feature_pyramid.h"
#include "cachet/models/vision/image_classifier.h"

namespace cachet::models {

/// A task that a model can perform.
enum class Capability {
  image_classifier,
  feature_pyramid,
  sequence_classifier,
  language_model,
  translation_model,
  object_detector
};

std::string_view to_string(Capability capability);  // as in a recipe: "feature_pyramid"
[[deprecated("to_string")]] inline std::string_view word(Capability capability) { return to_string(capability); }
const std::vector<Capability>& abilities();  // all capabilities

/// Returns the names of all models, sorted, as in a recipe: "vit_small_patch16_224", "lra_text".
const std::vector<std::string>& model_names();
/// Returns the names of the models with this capability.
std::vector<std::string> model_names(Capability capability);

/// Returns the capabilities of the model with this name, the main capability first; an unknown name has no
/// capabilities.
std::vector<Capability> abilities_of(std::string_view name);

// Each function below reads a `[model]` table: the key `name`, then the keys of the named model. The default values of
// keys come from the model and the data. Reports an unknown name (with the nearest name) or a missing capability as a
// problem.

ImageClassifierPlan read_image_classifier(const config::View& table, const ImageDefaults& defaults = {});
/// Reads the `[model]` table of a backbone without a classifier. The table of a backbone has no key `classes`.
FeaturePyramidPlan read_feature_pyramid(const config::View& table, const ImageDefaults& defaults = {});
SequenceClassifierPlan read_sequence_classifier(const config::View& table, const SequenceDefaults& defaults = {});
LanguageModelPlan read_language_model(const config::View& table, const LanguageDefaults& defaults = {});
TranslationModelPlan read_translation_model(const config::View& table, const TranslationDefaults& defaults = {});
/// Reads a detector. The table has the keys of the backbone, and the detector's inner tables neck, rpn_head, roi_head,
/// bbox_head and test.
ObjectDetectorPlan read_object_detector(const config::View& table, const ImageDefaults& defaults = {});

/// Reads the options of the model `name`. Does not read the key `name` of `table`. `table` may set all keys of the
/// model except `name`.
ImageClassifierPlan read_image_classifier(std::string_view name, const config::View& table,
                                          const ImageDefaults& defaults = {});
/// Reads any `[model]` table. The returned plan builds the model with its main capability (such as image_classifier).
ModelPlan read_model(std::string_view name, const config::View& table);

/// Returns the `[model]` keys that set the size of the model with this name, with their values: {"depth", "12"},
/// {"image_size", "224"}. For an unknown model, returns an empty list.
std::vector<std::pair<std::string, std::string>> sizes_of(std::string_view name);

using Ability [[deprecated("Capability")]] = Capability;

}  // namespace cachet::models
