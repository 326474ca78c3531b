#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/io/files/folder_lock.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

/// A trained, imported or exported model on the disk: its checkpoint and its recipe. A model folder and an export have
/// no checkpoints; `run` and `checkpoint` are then both the folder.
struct SavedRun {
  std::filesystem::path run, checkpoint;
  RecipePlan plan;                                    // plan as resolved for the run, with `settings` applied
  std::string recipe;                                 // the resolved recipe as TOML
  std::optional<runtime::ExportManifest> exported{};  // manifest of an export, whose engine computes the model
  /// The recipe's values that affect predictions, as TOML. The text leaves out the speed and duration of training, the
  /// location of the data, and keys that the recipe does not have (these are at their defaults).
  std::string what_answers_depend_on;
  /// Forms of what_answers_depend_on in version 0.1.0: with the data's path, with and without keys at their defaults.
  std::vector<std::string> old_answer_values{};
  /// The reason why predictions are impossible: a value that the run took from its training data is not known. The
  /// reason is a line for the user; load() throws it.
  std::optional<std::string> lack{};
  /// The lock of a checkpoint: training does not remove it while this object, or a copy of it, exists.
  std::optional<io::FolderLock> held{};
};

/// Finds the model of a path: a run's folder (its best checkpoint, else its last), one checkpoint of it, a model folder
/// (weights/model_folder.h), which has the preparation of images but an empty data.root, or an export
/// (exports/model_export.h). `settings` replace values of the run's recipe, as --set does. Throws std::runtime_error if
/// there is no checkpoint, config::Error if settings are wrong.
///
/// A run of an earlier version may lack a file that a current run stores (TaskPlan::files_to_keep). If its training
/// data exist and have the run's digest, the file is computed once, stored in the run, and a line reports this.
SavedRun open_saved_run(const std::filesystem::path& path, const std::vector<std::string>& settings = {});

/// Reads only the plan for a path of open_saved_run, for a folder of seeds, or for a run without a checkpoint yet.
/// Throws as open_saved_run does.
RecipePlan read_saved_plan(const std::filesystem::path& path, const std::vector<std::string>& settings = {});

/// Reads the weights, or the averaged weights if there are any. Throws train::DamagedCheckpoint, and io::Error.
io::TensorMap read_weights(const SavedRun& saved);

/// Returns the SHA-256 of the weights' file from its manifest or config.json; for an export, that of its model's
/// file. Throws as read_weights() does.
std::string weights_digest(const SavedRun& saved);

/// A model on the disk without its data: its plan and its weights.
struct SavedModel {
  models::ModelPlan plan;
  io::TensorMap weights;
  std::string source{};  // "run 1f0c…" by its id, for any checkpoint; "model 9f86…" by the SHA-256 of its weights
};
/// Opens a path of open_saved_run; a model folder needs no settings here. Throws as open_saved_run and read_weights do.
SavedModel open_saved_model(const std::filesystem::path& path);

/// Builds the task and loads the weights (the averaged weights, if there are any). The model is in evaluation mode.
/// Throws train::DamagedCheckpoint, and io::Error if weights do not fit the recipe or SavedRun::lack is set.
std::unique_ptr<Task> load(const SavedRun& saved, Splits splits = Splits::test);

}  // namespace cachet::tasks
