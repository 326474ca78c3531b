#include "cachet/tasks/weights/model_recipe.h"

#include "cachet/tasks/task_kinds.h"

namespace cachet::tasks {
namespace {

void read_kind(const config::View& root, const std::string& kind) {
  const config::View task = root.table("task");
  if (task.text("kind", kind) != kind) task.problem("kind", "is \"" + kind + "\" of such a model; leave it out");
}

}  // namespace

bool has_model_folder(models::Ability ability) {
  return ability == models::Ability::image_classifier || ability == models::Ability::language_model ||
         ability == models::Ability::translation_model;
}

ModelRecipe read_model_recipe(config::Document& document, const Preprocessing& defaults) {
  const config::View root = document.root(), model = root.table("model");
  const std::vector<models::Ability> can = models::abilities_of(model.required_text("name"));
  switch (can.empty() ? models::Ability::image_classifier : can.front()) {
    case models::Ability::language_model:
      read_kind(root, language_modelling().name);
      return {models::read_language_model(model)};
    case models::Ability::translation_model:
      read_kind(root, translation().name);
      return {models::read_translation_model(model)};
    default: {
      const models::ImageClassifierPlan images = models::read_image_classifier(model);
      return {images, images, read_preprocessing(root.table("data"), images, defaults)};
    }
  }
}

}  // namespace cachet::tasks
