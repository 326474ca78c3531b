#include "app/described_model.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "app/recipe_argument.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::app {

models::ModelPlan read_described_model(const ModelArgument& argument) {
  const auto models = models::model_names();
  const bool is_model = std::ranges::find(models, argument.name) != models.end();
  std::error_code unreadable;
  if (!is_model && std::filesystem::is_directory(argument.name, unreadable))
    return tasks::read_saved_plan(argument.name, argument.settings).model();
  const auto recipe = is_model ? std::nullopt : known_recipe(argument.name);
  if (!recipe) return read_model(argument);
  config::Document document = read_document(*recipe, argument.settings);
  return tasks::read_recipe(document, data::DataRoot::optional).model();
}

}  // namespace cachet::app
