#include "cachet/tasks/saved_run.h"

#include "cachet/io/state_dict.h"
#include "cachet/train/checkpoint.h"
#include "cachet/train/checkpoint_store.h"
#include "cachet/train/run_folder.h"

namespace cachet::tasks {

SavedRun open_saved_run(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  SavedRun saved;
  saved.checkpoint = train::find_checkpoint(path);
  saved.run = saved.checkpoint.parent_path().parent_path();  // <run>/checkpoints/step-…
  saved.recipe = config::Document::from_file(train::RunFolder::open(saved.run).resolved());
  for (const std::string& setting : settings) saved.recipe.set(setting);
  saved.plan = read_recipe(saved.recipe);
  return saved;
}

std::unique_ptr<ImageClassification> load(const SavedRun& saved, Splits splits) {
  auto task = saved.plan.build(splits);
  io::load_state_dict(task->model(), train::read_weights(saved.checkpoint),
                      {.conversion = io::LoadPolicy::Conversion::kNone});
  task->model().eval();
  return task;
}

}  // namespace cachet::tasks
