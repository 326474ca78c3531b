#include "cachet/tasks/saved_run.h"

#include <tuple>
#include <utility>

#include "cachet/io/state_dict.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/image_classification/preprocessing.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/train/checkpoint.h"
#include "cachet/train/checkpoint_store.h"
#include "cachet/train/run_folder.h"

namespace cachet::tasks {
namespace {

config::Document document_with(const std::filesystem::path& file, const std::vector<std::string>& settings) {
  config::Document document = config::Document::from_file(file);
  for (const std::string& setting : settings) document.set(setting);
  return document;
}

/// <run>/checkpoints/step-…
std::filesystem::path run_of_checkpoint(const std::filesystem::path& checkpoint) {
  return checkpoint.parent_path().parent_path();
}

std::string answer_values(const config::Document& recipe) {
  std::string values;
  for (const config::Document::Value& value : recipe.resolved()) {
    const bool trains = value.key.starts_with("optimizer.") || value.key.starts_with("schedule.") ||
                        (value.key.starts_with("train.") && value.key != "train.precision");
    if (!trains) values += value.key + " = " + value.toml + "\n";
  }
  return values;
}

/// Of a run or a model folder: the plan reads the run's own copies of files; the values are those without them, since
/// they move with the run.
std::pair<RecipePlan, std::string> plan_and_answer_values(const std::filesystem::path& run,
                                                          const std::vector<std::string>& settings) {
  const auto file = is_model_folder(run) ? model_folder_recipe(run) : train::RunFolder::open(run).resolved();
  config::Document recipe = document_with(file, settings);
  RecipePlan plan = read_recipe(recipe, data::DataRoot::optional);
  std::string values = answer_values(recipe);
  std::vector<std::string> own = plan.task->kept_file_settings(run);
  if (own.empty()) return {std::move(plan), std::move(values)};
  own.insert(own.end(), settings.begin(), settings.end());
  recipe = document_with(file, own);
  return {read_recipe(recipe, data::DataRoot::optional), std::move(values)};
}

}  // namespace

SavedRun open_saved_run(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  SavedRun saved;
  const bool is_model = is_model_folder(path);
  saved.checkpoint = is_model ? path : train::find_checkpoint(path);
  saved.run = is_model ? path : run_of_checkpoint(saved.checkpoint);
  std::tie(saved.plan, saved.what_answers_depend_on) = plan_and_answer_values(saved.run, settings);
  return saved;
}

RecipePlan read_saved_plan(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  const bool is_whole = is_model_folder(path) || train::is_run_folder(path);
  return plan_and_answer_values(is_whole ? path : run_of_checkpoint(train::find_checkpoint(path)), settings).first;
}

io::TensorMap read_weights(const SavedRun& saved) {
  return is_model_folder(saved.checkpoint) ? read_model_folder(saved.checkpoint)
                                           : train::read_weights(saved.checkpoint);
}

std::string weights_digest(const SavedRun& saved) {
  return is_model_folder(saved.checkpoint) ? model_folder_digest(saved.checkpoint)
                                           : train::weights_digest(saved.checkpoint);
}

SavedModel open_saved_model(const std::filesystem::path& path) {
  if (!is_model_folder(path)) {
    const SavedRun saved = open_saved_run(path);
    return {saved.plan.model(), read_weights(saved), "run " + train::RunFolder::open(saved.run).id()};
  }
  config::Document recipe = config::Document::from_file(model_folder_recipe(path));
  const auto plan = models::read_image_classifier(recipe.root().table("model"));
  read_preprocessing(recipe.root().table("data"), plan, {});
  recipe.finish();
  return {plan, read_model_folder(path), "model " + model_folder_digest(path)};
}

std::unique_ptr<Task> load(const SavedRun& saved, Splits splits) {
  auto task = saved.plan.build(splits);
  io::load_state_dict(task->model(), read_weights(saved), {.conversion = io::LoadPolicy::Conversion::kNone});
  task->model().eval();
  return task;
}

}  // namespace cachet::tasks
