#include "cachet/models/registry.h"

#include <algorithm>
#include <array>

#include "cachet/config/document.h"
#include "cachet/config/near_names.h"
#include "cachet/models/registered_model.h"

namespace cachet::models {
namespace {

const std::vector<RegisteredModel>& registered_models() {
  static const std::vector<RegisteredModel> models = [] {
    std::vector<RegisteredModel> all;
    for (const auto family : {vision_transformer_models, pyramid_vision_transformer_models, swin_transformer_models,
                              t2t_vision_transformer_models, long_range_models, transformer_xl_models,
                              causal_transformer_models, translation_transformer_models, detection_models})
      std::ranges::move(family(), std::back_inserter(all));
    std::ranges::sort(all, {}, &RegisteredModel::name);
    return all;
  }();
  return models;
}

bool can(const RegisteredModel& model, Capability capability) {
  switch (capability) {
    case Capability::image_classifier:
      return model.image_classifier != nullptr;
    case Capability::feature_pyramid:
      return model.feature_pyramid != nullptr;
    case Capability::sequence_classifier:
      return model.sequence_classifier != nullptr;
    case Capability::language_model:
      return model.language_model != nullptr;
    case Capability::translation_model:
      return model.translation_model != nullptr;
    case Capability::object_detector:
      return model.object_detector != nullptr;
  }
  return false;
}

const RegisteredModel* find_registered(std::string_view name) {
  const auto& all = registered_models();
  const auto found = std::ranges::find(all, name, &RegisteredModel::name);
  return found == all.end() ? nullptr : &*found;
}

std::string as_words(Capability capability) {
  std::string words(to_string(capability));
  std::ranges::replace(words, '_', ' ');
  return words;
}

/// One that can do it, whatever `name` is: the other keys of the table are read to find their mistakes too.
const RegisteredModel& model_for(Capability capability, std::string_view name, const config::View& table) {
  const RegisteredModel* named = find_registered(name);
  if (named != nullptr && can(*named, capability)) return *named;
  if (named != nullptr) {
    const std::string needed = as_words(capability);
    const bool has_vowel = std::string_view("aeio").find(needed.front()) != std::string_view::npos;
    table.problem("name",
                  "'" + named->name + "' is not " + (has_vowel ? "an " : "a ") + needed +
                      ", but the task needs one; the kind of this model: " + as_words(abilities_of(name).front()));
  } else if (!name.empty()) {  // a missing one is a problem already
    table.problem("name", "there is no model '" + std::string(name) + "'" +
                              config::suggestion(std::string(name), model_names(capability)) +
                              "; `cachet models` lists them");
  }
  return *std::ranges::find_if(registered_models(),
                               [&](const RegisteredModel& model) { return can(model, capability); });
}

}  // namespace

std::string_view to_string(Capability capability) {
  switch (capability) {
    case Capability::image_classifier:
      return "image_classifier";
    case Capability::feature_pyramid:
      return "feature_pyramid";
    case Capability::sequence_classifier:
      return "sequence_classifier";
    case Capability::language_model:
      return "language_model";
    case Capability::translation_model:
      return "translation_model";
    case Capability::object_detector:
      return "object_detector";
  }
  return "";
}

const std::vector<Capability>& abilities() {
  static const std::vector<Capability> all{Capability::image_classifier,    Capability::feature_pyramid,
                                           Capability::sequence_classifier, Capability::language_model,
                                           Capability::translation_model,   Capability::object_detector};
  return all;
}

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const RegisteredModel& model : registered_models()) all.push_back(model.name);
    return all;
  }();
  return names;
}

std::vector<std::string> model_names(Capability capability) {
  std::vector<std::string> names;
  for (const RegisteredModel& model : registered_models())
    if (can(model, capability)) names.push_back(model.name);
  return names;
}

std::vector<Capability> abilities_of(std::string_view name) {
  std::vector<Capability> found;
  const RegisteredModel* model = find_registered(name);
  for (const Capability capability : abilities())
    if (model != nullptr && can(*model, capability)) found.push_back(capability);
  return found;
}

ImageClassifierPlan read_image_classifier(const config::View& table, const ImageDefaults& defaults) {
  return read_image_classifier(table.required_text("name"), table, defaults);
}

ImageClassifierPlan read_image_classifier(std::string_view name, const config::View& table,
                                          const ImageDefaults& defaults) {
  return model_for(Capability::image_classifier, name, table).image_classifier(table, defaults);
}

FeaturePyramidPlan read_feature_pyramid(const config::View& table, const ImageDefaults& defaults) {
  return model_for(Capability::feature_pyramid, table.required_text("name"), table).feature_pyramid(table, defaults);
}

SequenceClassifierPlan read_sequence_classifier(const config::View& table, const SequenceDefaults& defaults) {
  return model_for(Capability::sequence_classifier, table.required_text("name"), table)
      .sequence_classifier(table, defaults);
}

LanguageModelPlan read_language_model(const config::View& table, const LanguageDefaults& defaults) {
  return model_for(Capability::language_model, table.required_text("name"), table).language_model(table, defaults);
}

TranslationModelPlan read_translation_model(const config::View& table, const TranslationDefaults& defaults) {
  return model_for(Capability::translation_model, table.required_text("name"), table)
      .translation_model(table, defaults);
}

ObjectDetectorPlan read_object_detector(const config::View& table, const ImageDefaults& defaults) {
  return model_for(Capability::object_detector, table.required_text("name"), table).object_detector(table, defaults);
}

ModelPlan read_model(std::string_view name, const config::View& table) {
  const std::vector<Capability> can_do = abilities_of(name);
  switch (can_do.empty() ? Capability::image_classifier : can_do.front()) {
    case Capability::image_classifier:
      return read_image_classifier(name, table);
    case Capability::feature_pyramid:
      return model_for(Capability::feature_pyramid, name, table).feature_pyramid(table, {});
    case Capability::sequence_classifier:
      return model_for(Capability::sequence_classifier, name, table).sequence_classifier(table, {});
    case Capability::language_model:
      return model_for(Capability::language_model, name, table).language_model(table, {});
    case Capability::translation_model:
      return model_for(Capability::translation_model, name, table).translation_model(table, {});
    case Capability::object_detector:
      return model_for(Capability::object_detector, name, table).object_detector(table, {});
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> sizes_of(std::string_view name) {
  static constexpr std::array keys{"image_size",    "patch_size",    "patch_sizes", "depth",      "depths",
                                   "encoder_depth", "decoder_depth", "embed_dim",   "embed_dims", "num_heads",
                                   "mlp_ratio",     "mlp_ratios",    "mlp_dim"};
  if (find_registered(name) == nullptr) return {};
  config::Document empty;
  read_model(name, empty.root());
  std::vector<std::pair<std::string, std::string>> sizes;
  for (const config::Document::Value& value : empty.resolved())
    if (std::ranges::find(keys, value.key) != keys.end()) sizes.emplace_back(value.key, value.toml);
  return sizes;
}

}  // namespace cachet::models
