#include "cachet/tasks/weights/model_recipe.h"

#include <nlohmann/json.hpp>

#include "cachet/data/class_matching.h"
#include "cachet/tasks/detection/detection_plan.h"
#include "cachet/tasks/task_kinds.h"

namespace cachet::tasks {
namespace {

using InputJson = nlohmann::ordered_json;

void read_kind(const config::View& root, const std::string& kind) {
  const config::View task = root.table("task");
  if (task.text("kind", kind) != kind)
    task.problem("kind", "must be \"" + kind + "\" for this model; leave the key out");
}

ModelRecipe of_text(models::ModelPlan plan) {
  InputJson sizes;
  for (const auto& [name, size] : plan.input.sizes) std::visit([&](auto value) { sizes[name] = value; }, size);
  const std::string input = InputJson{{plan.input.kind, sizes}}.dump();
  return {.plan = std::move(plan), .input = input};
}

std::string image_input(int64_t classes, const models::ImageShape& image, const std::string& preprocessing,
                        const std::vector<std::string>& class_names) {
  InputJson input{{"num_classes", classes}};
  if (!class_names.empty()) input["label_names"] = class_names;  // as timm calls them
  input["input_size"] = {image.channels, image.height, image.width};
  input["preprocessing"] = InputJson::parse(preprocessing);
  return input.dump();
}

}  // namespace

bool has_model_folder(models::Capability ability) {
  return ability == models::Capability::image_classifier || ability == models::Capability::language_model ||
         ability == models::Capability::translation_model || ability == models::Capability::object_detector;
}

ModelRecipe read_model_recipe(config::Document& document, const Preprocessing& defaults) {
  const config::View root = document.root(), model = root.table("model");
  const std::vector<models::Capability> can = models::abilities_of(model.required_text("name"));
  switch (can.empty() ? models::Capability::image_classifier : can.front()) {
    case models::Capability::language_model:
      read_kind(root, language_modelling().name);
      return of_text(models::read_language_model(model));
    case models::Capability::translation_model:
      read_kind(root, translation().name);
      return of_text(models::read_translation_model(model));
    case models::Capability::object_detector: {
      read_kind(root, detection().name);
      const DetectorOptions detector = read_detector_options(root);
      return {.plan = detector.model,
              .input =
                  image_input(detector.classes, detector.model.image, preparation_json(detector), detector.class_names),
              .preparation = preparation_text(detector)};
    }
    default: {
      const models::ImageClassifierPlan images = models::read_image_classifier(model);
      const config::View data = root.table("data");
      const Preprocessing preprocessing = read_preprocessing(data, images, defaults);
      return {images, images,
              image_input(images.classes, images.image, to_json(preprocessing), data::read_class_names(data)),
              to_text(preprocessing)};
    }
  }
}

}  // namespace cachet::tasks
