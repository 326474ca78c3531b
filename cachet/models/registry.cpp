#include "cachet/models/registry.h"

#include <algorithm>

#include "cachet/config/near_names.h"
#include "cachet/models/vision/pyramid_vision_transformer.h"
#include "cachet/models/vision/pyramid_vision_transformer_family.h"
#include "cachet/models/vision/swin_transformer.h"
#include "cachet/models/vision/swin_transformer_family.h"
#include "cachet/models/vision/t2t_vision_transformer.h"
#include "cachet/models/vision/t2t_vision_transformer_family.h"
#include "cachet/models/vision/vision_transformer.h"
#include "cachet/models/vision/vision_transformer_family.h"

namespace cachet::models {
namespace {

struct RegisteredModel {
  std::string name;
  std::function<ImageClassifierPlan(const config::View& table, const ImageDefaults& defaults)> plan;
};

template <class Model, class Options>
RegisteredModel registered(std::string_view name, const Options& options,
                           Options (*read)(const config::View& table, Options defaults)) {
  return {std::string(name), [=, name = std::string(name)](const config::View& table, const ImageDefaults& defaults) {
            Options own = options;
            if (defaults.image) own.image = *defaults.image;
            if (defaults.classes) own.classes = *defaults.classes;
            own = read(table, own);
            return ImageClassifierPlan{name, own.image, own.classes, [own] { return std::make_shared<Model>(own); }};
          }};
}

const std::vector<RegisteredModel>& registered_models() {
  static const std::vector<RegisteredModel> models = [] {
    std::vector<RegisteredModel> all;
    for (const auto& m : vision_transformer_family())
      all.push_back(registered<VisionTransformer>(m.name, m.options(), read_vision_transformer_options));
    for (const auto& m : pyramid_vision_transformer_family())
      all.push_back(registered<PyramidVisionTransformer>(m.name, m.options, read_pyramid_vision_transformer_options));
    for (const auto& m : swin_transformer_family())
      all.push_back(registered<SwinTransformer>(m.name, m.options, read_swin_transformer_options));
    for (const auto& m : t2t_vision_transformer_family())
      all.push_back(registered<T2tVisionTransformer>(m.name, m.options, read_t2t_vision_transformer_options));
    std::ranges::sort(all, {}, &RegisteredModel::name);
    return all;
  }();
  return models;
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& model : registered_models()) all.push_back(model.name);
    return all;
  }();
  return names;
}

ImageClassifierPlan read_image_classifier(const config::View& table, const ImageDefaults& defaults) {
  return read_image_classifier(table.required_text("name"), table, defaults);
}

ImageClassifierPlan read_image_classifier(std::string_view name, const config::View& table,
                                          const ImageDefaults& defaults) {
  const auto& models = registered_models();
  auto model = std::ranges::find(models, name, &RegisteredModel::name);
  if (model == models.end()) {
    table.problem("name", "there is no model '" + std::string(name) + "'" + config::suggestion(name, model_names()) +
                              "; `cachet models` lists them");
    // Any: the other keys are read to find their mistakes too.
    model = std::ranges::find(models, "vit_tiny_patch16_224", &RegisteredModel::name);
  }
  return model->plan(table, defaults);
}

}  // namespace cachet::models
