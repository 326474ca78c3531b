#include "app/arguments/described_model.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "app/arguments/recipe_argument.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::app {

namespace {

bool is_name_of_model(const std::string& name) {
  const auto models = models::model_names();
  return std::ranges::find(models, name) != models.end();
}

}  // namespace

bool is_model_on_disk(const std::string& name) {
  std::error_code unreadable;
  return !is_name_of_model(name) && std::filesystem::is_directory(name, unreadable);
}

std::optional<tasks::RecipePlan> read_described_recipe(const ModelArgument& argument) {
  if (is_model_on_disk(argument.name)) return tasks::read_saved_plan(argument.name, argument.settings);
  const auto recipe = is_name_of_model(argument.name) ? std::nullopt : known_recipe(argument.name);
  if (!recipe) return std::nullopt;
  config::Document document = read_document(*recipe, argument.settings);
  return tasks::read_recipe(document, data::DataRoot::optional);
}

models::ModelPlan read_described_model(const ModelArgument& argument) {
  const std::optional<tasks::RecipePlan> recipe = read_described_recipe(argument);
  return recipe ? recipe->model() : read_model(argument);
}

}  // namespace cachet::app
