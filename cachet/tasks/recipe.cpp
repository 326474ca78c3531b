#include "cachet/tasks/recipe.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/config/toml_text.h"
#include "cachet/hub/fetch.h"
#include "cachet/io/error.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/tasks/classification/saved_class_names.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/timm_config.h"
#include "cachet/tasks/weights/weight_import.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/runs/paper_rows.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::tasks {
namespace {

/// Whether the classes of a run, of a model folder, or of timm's config.json next to a file have other names than those
/// of the task, or another order. False if either has no names.
bool has_other_classes(const TaskPlan& task, const std::filesystem::path& path) {
  const std::vector<std::string> own = task.class_name_settings();
  if (own.empty()) return false;
  const std::vector<std::string> others = std::filesystem::is_directory(path)
                                              ? read_saved_plan(path).task->class_name_settings()
                                              : keep_class_names(timm_class_names(path, /*classes=*/-1)).settings;
  return !others.empty() && own.front() != others.front();
}

/// Reads a recipe and leaves its problems in the document.
RecipePlan read_plan(config::Document& document, data::DataRoot data_root) {
  const config::View root = document.root();
  std::vector<const TaskKind*> kinds;
  for (const TaskKind& kind : task_kinds()) kinds.push_back(&kind);
  RecipePlan plan;
  plan.task = root.table("task").record<TaskKind>("kind", kinds.front(), kinds)->read(root, data_root);
  plan.training = train::read_options(root);
  return plan;
}

/// The keys that --set, or recipes over the one that has the table [paper], gave other values, after those that its own
/// table names.
std::vector<std::string> keys_changed_since_row(const config::Document& document, data::DataRoot data_root,
                                                int64_t processes) {
  const std::vector<config::Document::Value> values = document.resolved();
  const auto row = std::ranges::find(values, "paper.row", &config::Document::Value::key);
  std::error_code unreadable;
  if (row == values.end() || !std::filesystem::is_regular_file(row->origin.source, unreadable)) return {};
  try {
    config::Document of_row = config::Document::from_file(row->origin.source);
    read_plan(of_row, data_root);
    std::vector<std::string> keys = train::read_changed_keys(of_row.root());
    const int64_t counted = train::processes_of_recipe(row->origin.source);
    // What is read to evaluate a run has the parts of the run.
    const int64_t now = data_root == data::DataRoot::required ? processes : counted;
    for (std::string& key : train::keys_changed_from({of_row, counted}, {document, now}))
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
    return keys;
  } catch (const config::Error&) {  // the file is not what it was when the document was read
    return {};
  }
}

/// Reads [paper]. Its key `changed` gets what has been changed since the row.
void read_paper(config::Document& document, data::DataRoot data_root, int64_t processes) {
  if (!train::read_paper_rows(document.root())) return;
  const std::vector<std::string> changed = keys_changed_since_row(document, data_root, processes);
  if (!changed.empty()) document.set("paper.changed=" + config::toml_text(changed), "compared with the paper's row");
  train::read_changed_keys(document.root());
}

/// Throws io::Error if weights, which do not fit a model, are those of a run or a model folder of another model.
void require_same_model(const std::filesystem::path& weights, const RecipePlan& plan) {
  std::string name, kind;
  try {
    const RecipePlan saved = read_saved_plan(weights);
    name = saved.model().name;
    kind = saved.task->profile().kind;
  } catch (const std::exception&) {
    return;  // a file of weights does not have these names
  }
  if (name == plan.model().name) return;
  throw io::Error(weights.string() + " has the weights of " + name + " (task " + kind + "), which do not fit " +
                  plan.model().name + " (task " + plan.task->profile().kind + "); give weights of " +
                  plan.model().name);
}

}  // namespace

std::unique_ptr<Task> RecipePlan::build(Splits splits) const {
  train::prepare_process(training.train);
  std::unique_ptr<Task> built = task->build(training.train, splits);
  if (splits == Splits::both) {
    built->note(notes);
    built->note_doubts();
    if (training.train.normality_passes > 0) built->record_normality(training.train.normality_passes);
  }
  if (splits == Splits::both || splits == Splits::test) built->check_evaluation_files();
  return built;
}

std::vector<std::string> RecipePlan::initialize(train::TrainingTask& task,
                                                const hub::DownloadOptions& downloads) const {
  const std::string& name = training.train.init;
  if (name.empty()) return {};
  const hub::FetchedWeights weights =
      hub::is_remote(name) ? hub::fetch_weights(name, hub::hub_settings(), downloads) : hub::FetchedWeights{name, name};
  const std::filesystem::path& path = weights.file;
  WeightImportOptions options;
  options.other_names = has_other_classes(*this->task, path);
  options.partial = training.train.init_partial;
  const WeightImportReport report = [&] {
    try {
      return import_weights(task.model(), path, options);
    } catch (const io::Error&) {
      require_same_model(path, *this);
      throw;
    }
  }();
  for (const auto& module : task.model().modules())
    if (auto* norm = dynamic_cast<nn::Norm*>(module.get())) norm->restart_warmup();
  return report_lines(report, weights.origin);
}

std::vector<std::string> RecipePlan::initialize(train::TrainingTask& task) const {
  return initialize(task, hub::DownloadOptions());
}

RecipePlan read_recipe(config::Document& document, data::DataRoot data_root, int64_t processes) {
  RecipePlan plan = read_plan(document, data_root);
  read_paper(document, data_root, processes);
  document.finish();
  plan.notes = document.notes();
  return plan;
}

}  // namespace cachet::tasks
