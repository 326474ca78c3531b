#include "cachet/tasks/saved_run.h"

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

std::string answer_values(const config::Document& recipe) {
  std::string values;
  for (const config::Document::Value& value : recipe.resolved()) {
    const bool trains = value.key.starts_with("optimizer.") || value.key.starts_with("schedule.") ||
                        (value.key.starts_with("train.") && value.key != "train.precision");
    if (!trains) values += value.key + " = " + value.toml + "\n";
  }
  return values;
}

}  // namespace

SavedRun open_saved_run(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  SavedRun saved;
  const bool is_model = is_model_folder(path);
  saved.checkpoint = is_model ? path : train::find_checkpoint(path);
  saved.run = is_model ? path : saved.checkpoint.parent_path().parent_path();  // <run>/checkpoints/step-…
  const auto file = is_model ? model_folder_recipe(path) : train::RunFolder::open(saved.run).resolved();
  config::Document recipe = document_with(file, settings);
  saved.plan = read_recipe(recipe, data::DataRoot::optional);
  saved.what_answers_depend_on = answer_values(recipe);  // without the run's own files, which move with it
  std::vector<std::string> own = saved.plan.task->kept_file_settings(saved.run);
  if (own.empty()) return saved;
  own.insert(own.end(), settings.begin(), settings.end());
  recipe = document_with(file, own);
  saved.plan = read_recipe(recipe, data::DataRoot::optional);
  return saved;
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
