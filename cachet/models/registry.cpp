#include "cachet/models/registry.h"

#include <algorithm>

#include "cachet/config/near_names.h"
#include "cachet/models/vision/vision_transformer.h"
#include "cachet/models/vision/vision_transformer_family.h"

namespace cachet::models {
namespace {

const VisionTransformerModel* find_vision_transformer(std::string_view name) {
  for (const auto& model : vision_transformer_family())
    if (model.name == name) return &model;
  return nullptr;
}

ImageClassifierPlan plan_vision_transformer(const VisionTransformerModel& model, const config::View& table,
                                            const ImageDefaults& defaults) {
  VisionTransformerOptions options = model.options();
  if (defaults.image) options.image = *defaults.image;
  if (defaults.classes) options.classes = *defaults.classes;
  options = read_vision_transformer_options(table, options);
  return {std::string(model.name), options.image, options.classes,
          [options] { return std::make_shared<VisionTransformer>(options); }};
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& model : vision_transformer_family()) all.emplace_back(model.name);
    std::sort(all.begin(), all.end());
    return all;
  }();
  return names;
}

ImageClassifierPlan read_image_classifier(const config::View& table, const ImageDefaults& defaults) {
  return read_image_classifier(table.required_text("name"), table, defaults);
}

ImageClassifierPlan read_image_classifier(std::string_view name, const config::View& table,
                                          const ImageDefaults& defaults) {
  const VisionTransformerModel* model = find_vision_transformer(name);
  if (!model) {
    table.problem("name", "there is no model '" + std::string(name) + "'" + config::suggestion(name, model_names()) +
                              "; `cachet models` lists them");
    model = &vision_transformer_family().front();
  }
  return plan_vision_transformer(*model, table, defaults);
}

}  // namespace cachet::models
