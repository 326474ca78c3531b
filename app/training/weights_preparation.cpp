#include "app/training/weights_preparation.h"

#include <array>
#include <iostream>
#include <system_error>

#include "app/arguments/weights_argument.h"
#include "cachet/processes/rendezvous.h"
#include "cachet/tasks/image_classification/preprocessing.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kPreparationKeys{"data.normalization.mean", "data.normalization.std",
                                                      "data.resize.crop_fraction", "data.resize.interpolation"};

/// What the run of a job has for these keys.
std::vector<std::string> settings_of_run(const fs::path& run) {
  std::vector<std::string> settings;
  if (!train::is_run_folder(run)) return settings;
  const train::RecipeValues values = train::RunFolder::open(run).values();
  for (const char* key : kPreparationKeys)
    if (const auto value = values.find(key); value != values.end())
      settings.push_back(std::string(key) + "=" + value->second);
  return settings;
}

}  // namespace

bool is_first_process() {
  const auto place = processes::place_from_environment();
  return !place || place->rank == 0;
}

std::optional<fs::path> beside_config_of(const std::string& weights) {
  if (hub::is_remote(weights)) return hub::fetch_config(weights, hub::hub_settings(), download_options("none"));
  std::error_code unreadable;
  if (!fs::is_regular_file(weights, unreadable) || tasks::is_model_file(weights)) return std::nullopt;
  return weights;
}

TrainArguments with_preparation_of_weights(const TrainArguments& asked, const TrainingJob& job) {
  TrainArguments arguments = asked;
  if (arguments.made) return arguments;  // the recipe was made for the weights
  const ReadRecipe recipe = read_recipe(job, arguments, arguments.seed);
  const std::string& init = recipe.plan.training.train.init;
  const auto* images = dynamic_cast<const tasks::PreparesImages*>(recipe.plan.task.get());
  if (init.empty() || images == nullptr) return arguments;
  std::vector<std::string> settings;
  if (job.resumes) {
    settings = settings_of_run(job.run);
    arguments.source_of_prepared = kKeptSource;
  } else if (const auto beside = beside_config_of(init)) {
    settings = images->preparation_settings(*beside);
    arguments.source_of_prepared = "config.json of " + init;
  }
  // What the recipe has written stays.
  std::string taken;
  for (const config::Document::Value& value : recipe.document.resolved()) {
    if (value.origin.source != config::kDefaultSource) continue;
    for (const std::string& setting : settings) {
      if (!setting.starts_with(value.key + "=")) continue;
      arguments.prepared.push_back(setting);
      taken += (taken.empty() ? "" : ", ") + value.key + " = " + setting.substr(value.key.size() + 1);
    }
  }
  if (!taken.empty() && !job.resumes && is_first_process())
    std::cerr << arguments.source_of_prepared << ": " << taken << '\n';
  return arguments;
}

}  // namespace cachet::app
