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

/// A trained, imported or exported model on the disk: its checkpoint and its recipe. For a model folder or an export,
/// which have no checkpoints, `run` and `checkpoint` are both the folder.
struct SavedRun {
  std::filesystem::path run, checkpoint;
  RecipePlan plan;                                    // the run's resolved plan with the changes of `settings`
  std::string recipe;                                 // the resolved recipe as TOML
  std::optional<runtime::ExportManifest> exported{};  // manifest of an export, whose engine computes the model
  /// The recipe's values that affect predictions, as TOML. This member leaves out the speed and duration of training,
  /// the location of the data, and keys that the recipe leaves at their defaults.
  std::string what_answers_depend_on;
  /// The values of what_answers_depend_on in the forms that version 0.1.0 wrote. All forms of version 0.1.0 include the
  /// path of the data, and some of the forms also include keys that the recipe leaves at their defaults.
  std::vector<std::string> old_answer_values{};
  /// The reason why predictions are impossible: a value that the run took from its training data is not known. If
  /// `lack` is set, load() throws an exception with the line `lack`.
  std::optional<std::string> lack{};
  /// The lock of a checkpoint. While the lock or a copy of it exists, training does not remove the checkpoint.
  std::optional<io::FolderLock> held{};
};

/// Finds the model that a path names. The path is a run's folder (for its best checkpoint, else its last), a
/// checkpoint, a model folder (weights/model_folder.h) or an export (exports/model_export.h). A model folder has the
/// preparation of images, but an empty data.root. `settings` replace values of the run's recipe, like --set. Throws
/// std::runtime_error if there is no checkpoint, config::Error if settings are wrong.
///
/// A run of an earlier version may lack a file that a current run stores (TaskPlan::files_to_keep). If a run lacks a
/// file, and its training data exist and have the digest that the run stores, the missing file is computed once and
/// stored in the run. If a file was computed, a line for the user reports this.
SavedRun open_saved_run(const std::filesystem::path& path, const std::vector<std::string>& settings = {});

/// Reads only the plan. The path is one that open_saved_run() accepts, a folder of seeds, or a run without checkpoints.
/// Throws the errors of open_saved_run().
RecipePlan read_saved_plan(const std::filesystem::path& path, const std::vector<std::string>& settings = {});

/// Reads the weights, or the averaged weights if there are any. Throws train::DamagedCheckpoint, and io::Error.
io::TensorMap read_weights(const SavedRun& saved);

/// Returns the SHA-256 of the weights' file from the manifest or config.json. For an export, returns the SHA-256 of its
/// model file. Throws the errors of read_weights().
std::string weights_digest(const SavedRun& saved);

/// A model on the disk without the data of its task: its plan and its weights.
struct SavedModel {
  models::ModelPlan plan;
  io::TensorMap weights;
  std::string source{};  // "run 1f0c…" (the id) for any checkpoint, or "model 9f86…" (SHA-256 of the weights)
};
/// Opens a path of open_saved_run. If the path is a model folder, no settings are necessary. Throws the errors of
/// open_saved_run and read_weights.
SavedModel open_saved_model(const std::filesystem::path& path);

/// Builds the task and loads the weights (the averaged weights, if there are any). The loaded model is in evaluation
/// mode. Throws train::DamagedCheckpoint. Throws io::Error if SavedRun::lack is set or weights do not fit the recipe.
std::unique_ptr<Task> load(const SavedRun& saved, Splits splits = Splits::test);

}  // namespace cachet::tasks
