#include "app/training/training_recipe.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "app/arguments/model_argument.h"
#include "app/arguments/recipe_argument.h"
#include "app/arguments/weights_argument.h"
#include "cachet/tasks/classification/classifies_data.h"
#include "cachet/tasks/part_sizes.h"
#include "cachet/tasks/settled_warmup.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

/// The source name of values that `--batch-size auto` chose, in the origins of values.
constexpr const char* kChosenSource = "--batch-size auto";

/// The values that a resumed run, or a new run of a resumed folder of seeds, has to keep. Another process may be making
/// the run of a seed: until it is there, the values are those of the folder of seeds.
std::optional<train::RecipeValues> earlier_values(const TrainingJob& job, const std::optional<fs::path>& resumed) {
  if (resumed && train::is_run_folder(*resumed)) return train::RunFolder::open(*resumed).values();
  if (job.resumes && train::is_run_folder(job.run)) return train::RunFolder::open(job.run).values();
  return std::nullopt;
}

/// "model.classes=3" if the run starts from weights and its data have another number of classes than the model, which a
/// base recipe may name. The head then starts fresh.
std::optional<std::string> classes_of_data(const tasks::RecipePlan& plan) {
  const auto* classifier = dynamic_cast<const tasks::ClassifiesData*>(plan.task.get());
  if (classifier == nullptr || plan.training.train.init.empty()) return std::nullopt;
  const std::optional<int64_t> classes = classifier->classes_of_data();
  if (!classes || *classes == classifier->classes_of_model()) return std::nullopt;
  return "model.classes=" + std::to_string(*classes);
}

ReadRecipe read_with(const std::string& last, const TrainingJob& job, const TrainArguments& arguments,
                     std::optional<uint64_t> seed, const std::optional<fs::path>& resumed) {
  ReadRecipe recipe{
      job.made ? read_document(*job.made, arguments.settings) : read_document(job.recipe, arguments.settings), {}};
  for (const std::string& setting : arguments.saved_settings) recipe.document.set(setting, kKeptSource);
  for (const std::string& setting : arguments.chosen)
    recipe.document.set(setting, job.resumes ? kKeptSource : kChosenSource);
  for (const std::string& setting : arguments.prepared) recipe.document.set(setting, arguments.source_of_prepared);
  const auto values = earlier_values(job, resumed);
  if (values) train::set_earlier_options(recipe.document, *values);
  if (seed) recipe.document.set("train.seed=" + std::to_string(*seed));
  if (!last.empty()) recipe.document.set(last, kDataSource);
  recipe.plan =
      tasks::read_recipe(recipe.document, data::DataRoot::required, std::max<int64_t>(1, arguments.processes));
  if (!values) return recipe;
  const std::vector<std::string> settled = tasks::settled_warmups(recipe.document, *values);
  if (settled.empty()) return recipe;
  TrainArguments with_counts = arguments;
  with_counts.saved_settings.insert(with_counts.saved_settings.end(), settled.begin(), settled.end());
  return read_with(last, job, with_counts, seed, resumed);
}

}  // namespace

ReadRecipe read_recipe(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                       const std::optional<fs::path>& resumed) {
  ReadRecipe recipe = read_with("", job, arguments, seed, resumed);
  const auto classes = classes_of_data(recipe.plan);
  if (!classes) return recipe;
  ReadRecipe fitting = read_with(*classes, job, arguments, seed, resumed);
  const auto& model = dynamic_cast<const tasks::ClassifiesData&>(*recipe.plan.task);
  const std::string number = std::to_string(*model.classes_of_data());
  fitting.plan.notes.push_back("the recipe has model.classes = " + std::to_string(model.classes_of_model()) +
                               ", but the data have " + number + " classes. The model gets " + number);
  return fitting;
}

std::optional<std::string> other_parts_note(const TrainingJob& job, const TrainArguments& arguments,
                                            const tasks::RecipePlan& run) {
  constexpr std::array<std::string_view, 5> kKeys{
      "train.state=", "train.accumulate=", "train.batch_size=", "data.max_tokens=", "data.max_samples="};
  if (!run.training.train.has_parts()) return std::nullopt;
  TrainArguments as_written = arguments;
  std::erase_if(as_written.settings, [&](const std::string& setting) {
    return std::ranges::any_of(kKeys, [&](std::string_view key) { return setting.starts_with(key); });
  });
  tasks::RecipePlan recipe = read_recipe(job, as_written, arguments.seed, resumed_run(job)).plan;
  recipe.training.train.shard.world_size = job.made ? 1 : train::processes_of_recipe(job.recipe);
  return tasks::other_parts_note(run, recipe);
}

namespace {

/// The plan that reads the copies that the run has of files that its recipe names. Its values stay as they were
/// written.
tasks::RecipePlan plan_with_kept_files(const TrainingJob& job, const TrainArguments& arguments,
                                       std::optional<uint64_t> seed, const ReadRecipe& recipe, const fs::path& run) {
  const std::vector<std::string> own = recipe.plan.task->saved_file_settings(run);
  if (own.empty()) return recipe.plan;
  TrainArguments with_own = arguments;
  with_own.saved_settings.insert(with_own.saved_settings.end(), own.begin(), own.end());
  return read_recipe(job, with_own, seed, run).plan;
}

/// Leaves out the keys that a run, or a folder of seeds, of an earlier version does not have: it is resumed as it was
/// made.
void drop_newer_keys(const train::RunFolder& run, std::vector<std::string>& settings) {
  std::erase_if(settings, [&](const std::string& setting) {
    return !run.values().contains(setting.substr(0, setting.find('=')));
  });
}

}  // namespace

ReadRecipe read_recipe_for_run(const TrainingJob& job, const TrainArguments& arguments, std::optional<uint64_t> seed,
                               const std::optional<fs::path>& resumed) {
  TrainArguments held = arguments;
  ReadRecipe recipe = read_recipe(job, held, seed, resumed);
  const auto plan_of = [&] { return resumed ? plan_with_kept_files(job, held, seed, recipe, *resumed) : recipe.plan; };
  tasks::RecipePlan plan = plan_of();
  tasks::SavedFiles keep = plan.task->files_to_keep();
  if (job.resumes) drop_newer_keys(train::RunFolder::open(job.run), keep.settings);
  if (!keep.settings.empty()) {
    held.saved_settings.insert(held.saved_settings.end(), keep.settings.begin(), keep.settings.end());
    recipe = read_recipe(job, held, seed, resumed);
    plan = plan_of();
  }
  recipe.plan = std::move(plan);
  recipe.files = std::move(keep.files);
  return recipe;
}

}  // namespace cachet::app
