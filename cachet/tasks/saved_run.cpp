#include "cachet/tasks/saved_run.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "cachet/config/toml_text.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/folder_path.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/report/text/progress.h"
#include "cachet/tasks/exports/exported_model.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/model_recipe.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/resume_rules.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::tasks {
namespace {

config::Document document_with(const std::filesystem::path& file, const std::vector<std::string>& settings) {
  auto document = config::Document::from_file(file);
  for (const std::string& setting : settings) document.set(setting);
  train::set_earlier_options(document);
  return document;
}

/// <run>/checkpoints/step-…
std::filesystem::path run_of_checkpoint(const std::filesystem::path& checkpoint) {
  return checkpoint.parent_path().parent_path();
}

struct AnswerValues {
  std::string values;
  std::vector<std::string> old = {"", ""};
};

// Keys that stand at their defaults are of the reader: a later version has more of them.
AnswerValues answer_values(const config::Document& document) {
  AnswerValues answers;
  for (const config::Document::Value& value : document.resolved()) {
    const bool trains = value.key.starts_with("optimizer.") || value.key.starts_with("schedule.") ||
                        (value.key.starts_with("train.") && value.key != "train.precision");
    // What was found before an option existed has a digest without it.
    if (trains || value.origin.source == config::kEarlierSource) continue;
    const std::string line = value.key + " = " + value.toml + "\n";
    const bool is_default = value.origin.source == config::kDefaultSource;
    if (!is_default || !train::is_newer_than_0_1_0(value.key)) answers.old[1] += line;
    if (is_default) continue;
    answers.old[0] += line;
    if (!train::is_place_of_data(value.key)) answers.values += line;
  }
  return answers;
}

/// A recipe on the disk, read with the settings over it.
struct SavedPlan {
  RecipePlan plan;
  std::string recipe;          // as TOML
  AnswerValues answer_values;  // without the run's own copies of files, which move with it
};

/// Of a run, a model folder or an export: the plan reads the folder's own copies of files.
SavedPlan read_plan(const std::filesystem::path& run, const std::vector<std::string>& settings) {
  const auto file = runtime::is_export(run) ? run / runtime::kExportRecipe
                    : is_model_folder(run)  ? model_folder_recipe(run)
                                            : train::RunFolder::open(run).resolved();
  SavedPlan saved;
  const auto read = [&](const std::vector<std::string>& over) {
    config::Document document = document_with(file, over);
    saved.plan = read_recipe(document, data::DataRoot::optional);
    saved.recipe = document.resolved_toml(/*with_origins=*/false);
    return answer_values(document);
  };
  saved.answer_values = read(settings);
  std::vector<std::string> own = saved.plan.task->saved_file_settings(run);
  if (own.empty()) return saved;
  own.insert(own.end(), settings.begin(), settings.end());
  read(own);
  return saved;
}

/// Computes the files that a run of an earlier version lacks, from its training data in the folder that its recipe
/// names, or that the settings name, and stores them. Nothing if that is done, else why it cannot be done.
std::optional<std::string> complete_run(const std::filesystem::path& run, const RecipePlan& asked) {
  const train::RunFolder folder = train::RunFolder::open(run);
  std::vector<std::vector<std::string>> alternatives{{}};
  for (const DataPlace& place : asked.task->data())
    alternatives.push_back({"data.root=" + config::toml_text(place.root.string())});
  std::string why;
  for (const std::vector<std::string>& place : alternatives) {
    try {
      const RecipePlan plan = read_plan(run, place).plan;
      if (!plan.task->keys_from_training_data())
        return "the run was trained without the mean and std of its training data";
      if (auto absent = plan.task->absent_data()) throw io::Error(*absent);
      const SavedFiles keep = plan.task->files_to_keep();
      for (const auto& [split, digest] : keep.digests)
        if (!folder.data().contains(split)) throw io::Error("the run has no digest of its " + split + " data");
      folder.compare_data(keep.digests, keep.fingerprints);
      report::Progress progress({.mode = report::ProgressMode::none});
      for (const auto& [name, bytes] : keep.files) {
        io::write_file_atomically(run / name, bytes);
        progress.log((run / name).string() +
                     " is new: an earlier version trained the run and did not store the values of this file. " +
                     "Cachet has now computed the values from the training data");
      }
      return std::nullopt;
    } catch (const std::runtime_error& error) {
      why = error.what();
    }
  }
  return why;
}

void refuse_fixed_keys(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings)
    if (const auto key = fixed_key(setting))
      throw std::invalid_argument(path.string() +
                                  " is an export: its model, its class names and its preparation of images "
                                  "cannot be changed; leave " +
                                  *key + " out of --set");
}

}  // namespace

SavedRun open_saved_run(const std::filesystem::path& given, const std::vector<std::string>& settings) {
  const std::filesystem::path path = io::without_last_separator(given);
  SavedRun saved;
  if (runtime::is_export(path)) {
    saved.exported = runtime::read_export(path);
    refuse_fixed_keys(path, settings);
  }
  const bool is_folder = saved.exported || is_model_folder(path);
  if (is_folder) {
    saved.checkpoint = path;
  } else {
    train::HeldCheckpoint held = train::hold_checkpoint(path);
    saved.checkpoint = std::move(held.folder);
    saved.held = std::move(held.lock);
  }
  saved.run = is_folder ? path : run_of_checkpoint(saved.checkpoint);
  SavedPlan read = read_plan(saved.run, settings);
  if (const auto keys = read.plan.task->keys_from_training_data(); keys && !saved.exported) {
    const std::optional<std::string> why =
        is_folder ? "a model folder does not store the mean and std of its data" : complete_run(saved.run, read.plan);
    if (why)
      saved.lack = saved.run.string() + ": " + *keys + " are not known and cannot be computed (" + *why +
                   "); give both with --set";
    else
      read = read_plan(saved.run, settings);
  }
  saved.plan = std::move(read.plan);
  if (saved.exported) saved.plan = with_exported_model(saved.plan, *saved.exported, path);
  saved.recipe = std::move(read.recipe);
  saved.what_answers_depend_on = std::move(read.answer_values.values);
  saved.old_answer_values = std::move(read.answer_values.old);
  return saved;
}

RecipePlan read_saved_plan(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  if (runtime::is_export(path)) refuse_fixed_keys(path, settings);
  const bool is_whole = runtime::is_export(path) || is_model_folder(path) || train::is_run_folder(path);
  return read_plan(is_whole ? path : run_of_checkpoint(train::find_checkpoint(path)), settings).plan;
}

io::TensorMap read_weights(const SavedRun& saved) {
  if (saved.exported)
    throw io::Error(saved.run.string() +
                    ": is an export, and only the engine of an export can read its weights; name the run or model that "
                    "was exported");
  return is_model_folder(saved.checkpoint) ? read_model_folder(saved.checkpoint)
                                           : train::read_weights(saved.checkpoint);
}

std::string weights_digest(const SavedRun& saved) {
  if (saved.exported) return saved.exported->digest_of(std::string(model_file(saved.exported->engine)));
  return is_model_folder(saved.checkpoint) ? model_folder_digest(saved.checkpoint)
                                           : train::weights_digest(saved.checkpoint);
}

SavedModel open_saved_model(const std::filesystem::path& path) {
  if (!is_model_folder(path)) {
    const SavedRun saved = open_saved_run(path);
    return {saved.plan.model(), read_weights(saved), "run " + train::RunFolder::open(saved.run).id()};
  }
  config::Document recipe = config::Document::from_file(model_folder_recipe(path));
  const models::ModelPlan plan = read_model_recipe(recipe).plan;
  recipe.finish();
  return {plan, read_model_folder(path), "model " + model_folder_digest(path)};
}

std::unique_ptr<Task> load(const SavedRun& saved, Splits splits) {
  if (saved.lack && splits != Splits::synthetic) throw io::Error(*saved.lack);
  auto task = saved.plan.build(splits);
  if (!saved.exported)
    io::load_state_dict(task->model(), read_weights(saved), {.conversion = io::LoadPolicy::Conversion::kNone});
  task->model().eval();
  if (const auto lack = saved.exported ? lack_of(*saved.exported) : std::nullopt)
    task->note({saved.run.string() + " " + *lack});
  return task;
}

}  // namespace cachet::tasks
