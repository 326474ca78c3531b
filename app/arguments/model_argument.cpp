#include "app/arguments/model_argument.h"

#include <algorithm>

#include "app/commands/command.h"
#include "cachet/config/glob.h"
#include "cachet/config/near_names.h"

namespace cachet::app {
namespace {

void set_model(const ModelArgument& argument, const std::vector<std::string>& names, config::Document& document) {
  if (std::ranges::find(names, argument.name) == names.end())
    throw UsageError("there is no model '" + argument.name + "'" + config::suggestion(argument.name, names) +
                     "; `cachet models` lists them");
  document.set("model.name=" + argument.name);
  for (const std::string& setting : argument.settings) document.set(setting);
}

void require_same_name(const ModelArgument& argument, config::Document& document) {
  const std::string name = document.root().table("model").text("name", "");
  if (name != argument.name)
    throw UsageError("the command names the model '" + argument.name + "', but --set model.name=" + name +
                     " names another model; leave one of them out");
}

}  // namespace

void add_settings_option(CLI::App& app, std::vector<std::string>& settings) {
  app.add_option("--set", settings,
                 "Set a key of the model, as in a recipe, for example model.cache.kind=grc (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);  // one value after each --set, so that an argument may follow
}

CLI::Option* add_model_argument(CLI::App& app, ModelArgument& argument) {
  CLI::Option* model =
      app.add_option("MODEL", argument.name, "Name of a model, as `cachet models` lists it")->required()->type_name("");
  add_settings_option(app, argument.settings);
  return model;
}

std::vector<std::string> matching_models(const std::string& glob) {
  std::vector<std::string> names = config::glob_filter(glob, models::model_names());
  if (names.empty())
    throw UsageError("no model matches '" + glob + "'" + config::suggestion(glob, models::model_names()) +
                     "; `cachet models` lists all");
  return names;
}

models::ModelPlan read_model(const ModelArgument& argument) {
  config::Document document;
  set_model(argument, models::model_names(), document);
  const models::ModelPlan plan = models::read_model(argument.name, document.root().table("model"));
  require_same_name(argument, document);
  document.finish();
  return plan;
}

void set_model(const ModelArgument& argument, const std::function<bool(models::Capability)>& can_be,
               const std::string& else_say, config::Document& document) {
  std::vector<std::string> names;
  for (const models::Capability capability : models::abilities())
    if (can_be(capability)) std::ranges::copy(models::model_names(capability), std::back_inserter(names));
  if (!models::abilities_of(argument.name).empty() && std::ranges::find(names, argument.name) == names.end())
    throw UsageError("'" + argument.name + "' " + else_say);
  set_model(argument, names, document);
  require_same_name(argument, document);
}

}  // namespace cachet::app
