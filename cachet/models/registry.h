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

/// What a model can do.
enum class Capability {
  image_classifier,
  feature_pyramid,
  sequence_classifier,
  language_model,
  translation_model,
  object_detector
};

std::string_view to_string(Capability capability);  // as users type it: "feature_pyramid"
[[deprecated("to_string")]] inline std::string_view word(Capability capability) { return to_string(capability); }
const std::vector<Capability>& abilities();  // all of them

/// Names of models, sorted, as users type them: "vit_small_patch16_224", "lra_text".
const std::vector<std::string>& model_names();
/// The names of the models with this capability.
std::vector<std::string> model_names(Capability capability);

/// What a model of this name can do, what it was made for first; nothing where there is no such model.
std::vector<Capability> abilities_of(std::string_view name);

// Each function below reads a `[model]` table: the key `name`, then the keys of that model over its defaults and over
// what the data ask for. An unknown name, which comes with the nearest, and a model that cannot do this are problems.

ImageClassifierPlan read_image_classifier(const config::View& table, const ImageDefaults& defaults = {});
/// A backbone without a classifier: its table has no `classes`.
FeaturePyramidPlan read_feature_pyramid(const config::View& table, const ImageDefaults& defaults = {});
SequenceClassifierPlan read_sequence_classifier(const config::View& table, const SequenceDefaults& defaults = {});
LanguageModelPlan read_language_model(const config::View& table, const LanguageDefaults& defaults = {});
TranslationModelPlan read_translation_model(const config::View& table, const TranslationDefaults& defaults = {});
/// The keys of a detector are next to those of its backbone, in the tables neck, rpn_head, roi_head, bbox_head and
/// test.
ObjectDetectorPlan read_object_detector(const config::View& table, const ImageDefaults& defaults = {});

/// The same for a model that is named outside a recipe; `table` may hold overrides of its keys.
ImageClassifierPlan read_image_classifier(std::string_view name, const config::View& table,
                                          const ImageDefaults& defaults = {});
/// A model of any ability, as what it was made for first.
ModelPlan read_model(std::string_view name, const config::View& table);

/// The values of the keys of `[model]` that make the size of the model of this name: {"depth", "12"}, {"image_size",
/// "224"}. Empty where there is no such model.
std::vector<std::pair<std::string, std::string>> sizes_of(std::string_view name);

using Ability [[deprecated("Capability")]] = Capability;

}  // namespace cachet::models
