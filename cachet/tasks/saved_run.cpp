#include "cachet/tasks/saved_run.h"

#include "cachet/config/toml_text.h"
#include "cachet/io/state_dict.h"
#include "cachet/tasks/model_folder.h"
#include "cachet/tasks/own_subwords.h"
#include "cachet/tasks/preprocessing.h"
#include "cachet/train/checkpoint.h"
#include "cachet/train/checkpoint_store.h"
#include "cachet/train/run_folder.h"

namespace cachet::tasks {
namespace {

template <class Task>
std::unique_ptr<Task> filled(const SavedRun& saved, std::unique_ptr<Task> task) {
  io::load_state_dict(task->model(), read_weights(saved), {.conversion = io::LoadPolicy::Conversion::kNone});
  task->model().eval();
  return task;
}

}  // namespace

SavedRun open_saved_run(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  SavedRun saved;
  if (is_model_folder(path)) {
    saved.run = saved.checkpoint = path;
    saved.recipe = config::Document::from_file(model_folder_recipe(path));
  } else {
    saved.checkpoint = train::find_checkpoint(path);
    saved.run = saved.checkpoint.parent_path().parent_path();  // <run>/checkpoints/step-…
    saved.recipe = config::Document::from_file(train::RunFolder::open(saved.run).resolved());
    if (const auto own = own_subword_model(saved.run); !own.empty())
      saved.recipe.set("data.subword_model=" + config::toml_text(own.string()));
  }
  for (const std::string& setting : settings) saved.recipe.set(setting);
  saved.plan = read_recipe(saved.recipe, data::RootKey::optional);
  return saved;
}

io::TensorMap read_weights(const SavedRun& saved) {
  return is_model_folder(saved.checkpoint) ? read_model_folder(saved.checkpoint)
                                           : train::read_weights(saved.checkpoint);
}

SavedModel open_saved_model(const std::filesystem::path& path) {
  if (!is_model_folder(path)) {
    const SavedRun saved = open_saved_run(path);
    return {saved.plan.model(), read_weights(saved)};
  }
  config::Document recipe = config::Document::from_file(model_folder_recipe(path));
  const auto plan = models::read_image_classifier(recipe.root().table("model"));
  read_preprocessing(recipe.root().table("data"), plan, {});
  recipe.finish();
  return {plan, read_model_folder(path)};
}

std::unique_ptr<ClassificationTask> load(const SavedRun& saved, Splits splits) {
  return filled(saved, saved.plan.build(splits));
}

std::unique_ptr<ImageClassification> load_images(const SavedRun& saved, Splits splits) {
  return filled(saved, saved.plan.build_images(splits));
}

}  // namespace cachet::tasks
